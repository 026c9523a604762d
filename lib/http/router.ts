/**
 * Finds the endpoint of a request. itty-router iterates over the routes; the patterns are our own, because paths are
 * matched while percent-encoded: `%2F` is part of a segment, and each segment is decoded exactly once, after matching.
 */
import { IttyRouter } from 'itty-router';
import type { Endpoint } from './endpoint.ts';
import { malformed, noRoute, notAllowed, oldVersion } from './errors.ts';

export const API_ROOT = '/api/v4';
/** Whether an endpoint's path starts at the root, not below `API_ROOT`. */
export const fromRoot = (path: string): boolean => path.startsWith('/api/');

interface Match<D> {
  readonly endpoint: Endpoint<D>;
  /** Decoded. */
  readonly params: Readonly<Record<string, string>>;
}

export interface Router<D> {
  /**
   * `path` is percent-encoded and has no query.
   * @throws HttpFailure 404 for an unknown path, 405 for a method that the path does not have, 400 for invalid encoding
   */
  match(method: string, path: string): Promise<Match<D>>;
  /** The methods of a path, including `OPTIONS`; none for an unknown path. */
  methods(path: string): Promise<readonly string[]>;
}

interface Found {
  readonly endpoint: number;
  readonly encoded: Readonly<Record<string, string>>;
}

export function routerOf<D>(endpoints: readonly Endpoint<D>[]): Router<D> {
  const ordered = [...endpoints].sort((a, b) => compare(a.path, b.path));
  // Paths that declare a format (`archive.:format`) do not ignore other extensions.
  const formats = new Set(
    endpoints.flatMap(({ path }) => (/\.:\w+$/.test(path) ? [path.replace(/\.:\w+$/, '')] : [])),
  );
  const routes = ordered.map((endpoint) => ({
    endpoint,
    pattern: patternOf(endpoint.path, !formats.has(endpoint.path)),
  }));
  const entry = (method: string, pattern: RegExp, index: number) =>
    [
      method,
      pattern,
      [
        (request: { params: Record<string, string> }): Found => ({
          endpoint: index,
          encoded: request.params,
        }),
      ],
    ] as [string, RegExp, [never]];
  // A declared HEAD takes precedence over the GET that would serve it too.
  const router = IttyRouter({
    routes: routes.map((route, index) => entry(route.endpoint.method, route.pattern, index)),
  });
  const methodsOf = (path: string) =>
    routes.filter((route) => route.pattern.test(path)).map((route) => route.endpoint.method);

  const find = async (method: string, path: string): Promise<Found | undefined> =>
    (await router.fetch({ method, url: `http://router${path}` })) as Found | undefined;

  return {
    async match(method, path) {
      const found = (await find(method, path)) ?? (method === 'HEAD' ? await find('GET', path) : undefined);
      if (found !== undefined) {
        const endpoint = routes[found.endpoint]!.endpoint;
        return { endpoint, params: decodeAll(found.encoded) };
      }
      const methods = methodsOf(path);
      if (methods.length > 0) throw notAllowed(withImplied(methods));
      if (/^\/api\/v3(\/|$)/.test(path)) throw oldVersion();
      throw noRoute();
    },
    async methods(path) {
      const methods = methodsOf(path);
      return methods.length === 0 ? [] : withImplied(methods);
    },
  };
}

const ORDER = ['OPTIONS', 'GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

function withImplied(methods: readonly string[]): string[] {
  const all = new Set(['OPTIONS', ...methods, ...(methods.includes('GET') ? ['HEAD'] : [])]);
  return ORDER.filter((method) => all.has(method));
}

/**
 * `:name` is one segment, `word.:name` the part after the dot, `*name` any number of segments. A path that ends
 * in a word or a numeric id may be followed by `.json`, which is ignored; names (of branches, files) may contain dots.
 */
function patternOf(path: string, ignoresJsonSuffix: boolean): RegExp {
  const segments = path.split('/').filter((segment) => segment !== '');
  const source = segments.map((segment, index) => {
    const last = index === segments.length - 1;
    // One within a path ends as soon as what follows it fits.
    if (segment.startsWith('*')) return `(?<${segment.slice(1)}>${last ? '.*[^/]' : '.+?'})`;
    if (segment.startsWith(':')) {
      const name = segment.slice(1);
      const isNumericId = last && /^(id|\w+_i?id)$/.test(name);
      return isNumericId ? `(?:(?<${name}>\\d+)\\.json|(?<${name}>[^/]+))` : `(?<${name}>[^/]+)`;
    }
    const [word, extension] = segment.split(/\.:(?=\w+$)/);
    if (extension !== undefined) return `${literal(word!)}\\.(?<${extension}>[^/]+)`;
    return literal(segment) + (last && ignoresJsonSuffix ? '(?:\\.json)?' : '');
  });
  return new RegExp(`^${fromRoot(path) ? '' : API_ROOT}/${source.join('/')}/*$`);
}

const literal = (word: string) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Sorts words before parameters, and those before the rest of the path, segment by segment. */
function compare(a: string, b: string): number {
  const left = a.split('/');
  const right = b.split('/');
  for (let index = 0; index < Math.max(left.length, right.length); index++) {
    const order = rank(left[index]) - rank(right[index]);
    if (order !== 0) return order;
  }
  return 0;
}

function rank(segment: string | undefined): number {
  if (segment === undefined) return 4;
  if (segment.startsWith('*')) return 3;
  if (segment.startsWith(':')) return 2;
  return segment.includes(':') ? 1 : 0;
}

function decodeAll(encoded: Readonly<Record<string, string>>): Record<string, string> {
  const decoded: Record<string, string> = {};
  for (const [name, segment] of Object.entries(encoded)) {
    if (segment === undefined) continue;
    try {
      decoded[name] = decodeURIComponent(segment);
    } catch {
      throw malformed('invalid %-encoding');
    }
    if (decoded[name]!.includes('\0')) throw malformed('a path may not contain NUL');
  }
  return decoded;
}

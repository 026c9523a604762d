import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { allEndpoints } from '../../lib/api/all.ts';
import { document } from '../../lib/http/openapi.ts';
import type { OpenApiDocument } from '../../lib/http/openapi-document.ts';

interface Route {
  readonly pattern: RegExp;
  readonly literals: number;
  readonly path: string;
}

let spec: OpenApiDocument | undefined;
let routes: Route[] = [];
const compiled = new Map<string, ValidateFunction | undefined>();
const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: true });
(formats as unknown as (ajv: Ajv2020) => void)(ajv);

/**
 * Every answer of the API is what its OpenAPI document says: known status, known body.
 * @param path below `/api/v4`, percent-encoded, with or without a query
 * @throws when the document does not say so
 */
export function expectDocumented(method: string, path: string, status: number, body: unknown): void {
  // Headers alone: there is no body to be anything.
  if (method === 'HEAD') return;
  // What any route may answer, or what is no route at all.
  if (status === 304 || status === 404 || status === 405 || status === 410 || status === 413 || status >= 429)
    return;
  const route = routeOf(path.replace(/[?#].*$/, ''));
  const operation = route && spec!.paths[route.path]?.[method.toLowerCase()];
  if (route === undefined || operation === undefined) return;
  if (operation.responses[status] === undefined) {
    throw new Error(
      `${method} ${route.path} answers ${status}, which its document does not know: ${JSON.stringify(body)}`,
    );
  }
  const key = `${method.toLowerCase()} ${route.path} ${status}`;
  if (!compiled.has(key)) compiled.set(key, validatorOf(route.path, method.toLowerCase(), status));
  const validate = compiled.get(key);
  if (validate === undefined || validate(body)) return;
  throw new Error(
    `${method} ${route.path} ${status} is not what its document says: ${ajv.errorsText(validate.errors)}`,
  );
}

function routeOf(path: string): Route | undefined {
  if (spec === undefined) {
    spec = document(allEndpoints, { title: 'Lemnos', version: '0', serverUrl: 'http://lemnos.test' });
    ajv.addSchema({ $id: 'document', ...(spec as object) });
    routes = Object.keys(spec.paths)
      .map((one) => ({
        path: one,
        literals: one.split('/').filter((segment) => !segment.startsWith('{')).length,
        pattern: new RegExp(`^${one.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{[^}]+\}/g, '[^/]+')}/?$`),
      }))
      .sort((a, b) => b.literals - a.literals);
  }
  return routes.find((route) => route.pattern.test(path));
}

function validatorOf(path: string, method: string, status: number): ValidateFunction | undefined {
  const [found] = Object.entries(spec!.paths[path]![method]!.responses[status]!.content ?? {}).filter(
    ([type]) => /\bjson$/.test(type),
  );
  if (found === undefined || Object.keys(found[1].schema).length === 0) return undefined;
  const pointer = ['paths', path, method, 'responses', String(status), 'content', found[0], 'schema']
    .map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')))
    .join('/');
  return ajv.compile({ $ref: `document#/${pointer}` });
}

/**
 * Packs the viewer of the page at `/api/docs` from node_modules: for a bundle when it is built, on the embedded host when
 * it is first asked for.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

/** Each name has a hash of the content in it. */
export interface ViewerNames {
  /** The viewer itself: Scalar. */
  readonly viewer: string;
  /** What configures and starts it: `start.js`. */
  readonly start: string;
  /** The viewer's license. */
  readonly license: string;
}

export interface PackedFile {
  readonly name: string;
  readonly gzip: Uint8Array;
}

const PACKAGE = '@scalar/fastify-api-reference';
/** What the viewer shows in an empty field for a token: it looks like a token that is set. */
const TOKEN_PLACEHOLDER = 'QUxMIFlPVVIgQkFTRSBBUkUgQkVMT05HIFRPIFVT';

export async function packViewer(): Promise<{ names: ViewerNames; files: readonly PackedFile[] }> {
  const [viewer, start, license] = await Promise.all([
    viewerScript().then((text) => pack('scalar', 'js', text)),
    readFile(new URL('./start.js', import.meta.url), 'utf8').then((text) => pack('start', 'js', text)),
    readFile(new URL('../LICENSE', import.meta.resolve(PACKAGE)), 'utf8').then((text) =>
      pack(
        'license',
        'txt',
        `The viewer of this page is Scalar (https://github.com/scalar/scalar).\n\n${text}`,
      ),
    ),
  ]);
  const names = { viewer: viewer.name, start: start.name, license: license.name };
  return { names, files: [viewer, start, license] };
}

async function pack(name: string, extension: string, text: string): Promise<PackedFile> {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 16);
  return { name: `${name}.${hash}.${extension}`, gzip: await promisify(gzip)(text, { level: 9 }) };
}

/** Tells zod, which is in the script, not to try whether it may evaluate code: the page's policy forbids it. */
const NO_EVAL = 'globalThis.__zod_globalConfig={jitless:true};\n';

/** What {@link viewerScript} needs of the package: a plugin that adds routes to a server. */
type Plugin = (
  server: { route(route: { url: string; handler(request: unknown, reply: object): unknown }): void },
  options: object,
  next: () => void,
) => void;

/**
 * The viewer as one script. The plugin for Fastify carries it, with a dozen small packages; the viewer's own package would
 * install two hundred, 290 MB, that are in the script already. Its route for the script is asked as Fastify would.
 */
async function viewerScript(): Promise<string> {
  const { default: plugin } = (await import(PACKAGE)) as { default: Plugin };
  let script: unknown;
  const reply = {
    header: () => reply,
    send: (body: unknown) => {
      script = body;
    },
  };
  const route = ({ url, handler }: { url: string; handler(request: unknown, reply: object): unknown }) => {
    if (url.endsWith('.js')) handler({}, reply);
  };
  plugin({ route }, { configuration: { url: 'openapi.json' } }, () => {});
  if (typeof script !== 'string') throw new Error(`${PACKAGE} has no script of the viewer`);
  return NO_EVAL + script.replaceAll(TOKEN_PLACEHOLDER, 'Token');
}

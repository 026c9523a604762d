import { copyFileSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
import type { Area } from '../functions/areas.ts';
import { apiDocument } from '../lib/api/all.ts';
import { packViewer } from '../lib/api/meta/viewer/pack.ts';
import { sdkParts } from './sdk-parts.ts';
import { type StoreParts, storeParts } from './store-parts.ts';

/** The deployable code of a function: `<directory>/index.mjs` exports `handler`. */
export interface Bundle {
  readonly area: Area;
  readonly directory: string;
  /** Uncompressed bytes that a cold start loads: `index.mjs` and the files it imports statically. */
  readonly bytes: number;
}

/**
 * Bundles the areas' entries into `output/<name>/index.mjs`, each with a source map, which is not deployed. Modules
 * imported with `import()` become separate files, loaded on demand.
 * @param entries folder of the modules in the manifest. Areas without an entry are left out of the result.
 */
export async function bundle(
  areas: readonly Area[],
  { entries, output }: { entries: string; output: string },
): Promise<Bundle[]> {
  const present = areas.filter((area) => existsSync(join(entries, area.entry)));
  rmSync(output, { recursive: true, force: true });
  const parts = await storeParts(present.map((area) => join(entries, area.entry)));
  const bundles: Bundle[] = [];
  const waiting = present.entries();
  const worker = async () => {
    for (const [i, area] of waiting)
      bundles[i] = await bundleOne(area, join(entries, area.entry), join(output, area.name), parts);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return bundles;
}

/** Bundles made at once: all at once take 8 GB of memory. */
const AT_ONCE = 4;

const FORMAT = {
  bundle: true,
  minify: true,
  sourcemap: 'external',
  platform: 'node',
  target: 'node24',
  format: 'esm',
  // The SDK's ESM build is half the size of its `main` build, and starts 20 ms faster.
  mainFields: ['module', 'main'],
  // CommonJS dependencies load node's modules with `require`, which ESM does not have.
  banner: {
    js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
  },
  legalComments: 'none',
  logLevel: 'warning',
} as const satisfies BuildOptions;

/** Modules that start a thread or process, with the code that it runs. */
const STARTED_CODE = [
  ['lib/domain/markdown/render.ts', 'lib/domain/markdown/render-thread.ts'],
  ['lib/domain/markdown/asciidoc.ts', 'lib/domain/markdown/asciidoc-process.ts'],
  ['lib/ci/yaml/in-thread.ts', 'lib/ci/yaml/yaml-thread.ts'],
  ['lib/git/archive/bzip2.ts', 'lib/git/archive/bzip2-thread.ts'],
] as const;

async function bundleOne(area: Area, entry: string, directory: string, parts: StoreParts): Promise<Bundle> {
  const result = await build({
    entryPoints: [entry],
    outdir: directory,
    entryNames: 'index',
    outExtension: { '.js': '.mjs' },
    splitting: true,
    ...FORMAT,
    plugins: [
      ...sdkParts(area),
      parts.of(entry),
      noSchemaDocuments,
      noShapes,
      multipartOnly,
      documentOfTheBuild,
      viewerOfTheBuild,
    ],
    metafile: true,
  });
  if (Object.keys(result.metafile.inputs).some((path) => path.endsWith('lib/api/meta/remote-helper.ts'))) {
    copyFileSync(
      join(import.meta.dirname, '../lib/api/meta/git-remote-lemnos'),
      join(directory, 'git-remote-lemnos'),
    );
  }
  // Code of threads and processes is a file of its own, beside the bundle that starts them.
  for (const [starter, code] of STARTED_CODE) {
    if (!Object.keys(result.metafile.inputs).some((path) => path.endsWith(starter))) continue;
    await build({
      entryPoints: [join(import.meta.dirname, '..', code)],
      outfile: join(directory, basename(code).replace(/\.ts$/, '.mjs')),
      ...FORMAT,
    });
    // It loads its library from its own directory.
    if (code.endsWith('bzip2-thread.ts')) {
      const library = createRequire(import.meta.url).resolve('bzip2-wasm/bzip2-1.0.8/bzip2.wasm');
      copyFileSync(library, join(directory, 'bzip2.wasm'));
    }
  }
  if (Object.keys(result.metafile.inputs).some((path) => DOCUMENTED.test(`/${path}`))) {
    writeFileSync(join(directory, 'openapi.json'), JSON.stringify(apiDocument()));
  }
  if (Object.keys(result.metafile.inputs).some((path) => VIEWER.test(`/${path}`))) {
    for (const { name, gzip } of (await packViewer()).files)
      writeFileSync(join(directory, `${name}.gz`), gzip);
  }
  return { area, directory, bytes: loadedAtOnce(result.metafile) };
}

/** Bytes of the entry and of all its static imports, transitively. */
function loadedAtOnce({ outputs }: Metafile): number {
  const entry = Object.keys(outputs).find((path) => path.endsWith('index.mjs'));
  const files = new Set(entry === undefined ? [] : [entry]);
  for (const file of files) {
    for (const { path, kind } of outputs[file]?.imports ?? []) {
      if (kind === 'import-statement' && path in outputs) files.add(path);
    }
  }
  return [...files].reduce((all, file) => all + (outputs[file]?.bytes ?? 0), 0);
}

/** JSON schemas are only needed for the OpenAPI document, which is generated at build time: {@link documentOfTheBuild}. */
const noSchemaDocuments: Plugin = {
  name: 'no-schema-documents',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]zod[\\/]v4[\\/]core[\\/]to-json-schema\.js$/ }, () => ({
      contents: `const absent = () => () => { throw new Error('this bundle writes no schema documents'); };
export { absent as createToJSONSchemaMethod, absent as createStandardJSONSchemaMethod, absent as initializeContext,
  absent as processSchema, absent as process, absent as extractDefs, absent as finalize, absent as handleUnrepresentable };`,
    }));
    // Used only by the modules replaced above.
    onLoad({ filter: /[\\/]zod[\\/]v4[\\/]core[\\/]json-schema-processors\.js$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8'))
        .match(/(?<=^export (?:const|function) )\w+/gm)!
        .map((name) => `export const ${name} = undefined;`)
        .join('\n'),
    }));
  },
};

/** The shapes of answers (`lib/http/shape.ts`) are for the OpenAPI document alone: with them goes what only they need. */
const noShapes: Plugin = {
  name: 'no-shapes',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]lib[\\/]api[\\/].*shapes\.ts$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replaceAll('= shape(', '= void 0 && shape('),
      loader: 'ts',
    }));
  },
};

/** The form parser is used for `multipart/form-data` only (`lib/http/multipart.ts`). */
const multipartOnly: Plugin = {
  name: 'multipart-only',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]@fastify[\\/]busboy[\\/]lib[\\/]types[\\/]urlencoded\.js$/ }, () => ({
      contents: 'module.exports = { detect: /(?!)/ };',
    }));
  },
};

const DOCUMENTED = /[\\/]lib[\\/]api[\\/]all\.ts$/;

/**
 * Replaces the sources of the OpenAPI document with the generated document in a file beside the bundle: otherwise the
 * function that serves it would contain every other function's code.
 */
const documentOfTheBuild: Plugin = {
  name: 'document-of-the-build',
  setup({ onLoad }) {
    onLoad({ filter: DOCUMENTED }, () => ({
      contents: `import { readFileSync } from 'node:fs';
export const apiDocument = () => JSON.parse(readFileSync(new URL('./openapi.json', import.meta.url), 'utf8'));`,
    }));
  },
};

const VIEWER = /[\\/]lib[\\/]api[\\/]meta[\\/]viewer[\\/]files\.ts$/;

/** The API documentation viewer, in files beside the bundle that are read on request. */
const viewerOfTheBuild: Plugin = {
  name: 'viewer-of-the-build',
  setup({ onLoad }) {
    onLoad({ filter: VIEWER }, async () => ({
      contents: `import { readFile } from 'node:fs/promises';
const names = ${JSON.stringify((await packViewer()).names)};
export const viewerNames = async () => names;
export const viewerContent = async (name) =>
  Object.values(names).includes(name) ? readFile(new URL(name + '.gz', import.meta.url)) : undefined;`,
    }));
  },
};

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { build, type Metafile, type Plugin, transform } from 'esbuild';

/** Which parts of the store (`lib/store/store.ts`) each function's bundle has. */
export interface StoreParts {
  /** The plugin for the bundle of an entry: it leaves out the parts that no module of the bundle names. */
  of(entry: string): Plugin;
}

const STORE = /[\\/]lib[\\/]store[\\/]store\.ts$/;
/** An entry of the table that says how each part is made. */
const PART = /^ {2}(\w+): \(s\) =>([\s\S]*?),$(?=\n {2}(?:\w|\/\/)|\n\};)/gm;

/**
 * Finds what each entry's modules name of the store. A part counts as named wherever a module has a property of that
 * name, whatever it belongs to, or a text of that one word: a bundle may have too much, never too little.
 * @throws Error if the store has no table of parts.
 */
export async function storeParts(entries: readonly string[]): Promise<StoreParts> {
  const { metafile } = await build({
    entryPoints: [...entries],
    outdir: 'unwritten',
    write: false,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    metafile: true,
    logLevel: 'warning',
    // The store itself names every part.
    plugins: [
      { name: 'no-store', setup: ({ onLoad }) => onLoad({ filter: STORE }, () => ({ contents: EMPTY })) },
    ],
  });
  const words = new Map<string, Promise<ReadonlySet<string>>>();
  const wordsOf = (path: string) => {
    const known = words.get(path) ?? readFile(path, 'utf8').then((source) => namesIn(source, path));
    words.set(path, known);
    return known;
  };
  return {
    of: (entry) => ({
      name: 'store-parts',
      setup({ onLoad }) {
        onLoad({ filter: STORE }, async ({ path }) => {
          const named = await Promise.all(modulesOf(metafile, entry).map(wordsOf));
          return { contents: withParts(await readFile(path, 'utf8'), named), loader: 'ts' };
        });
      },
    }),
  };
}

const EMPTY = 'export const createStore = undefined;';

/** The project's modules that an entry loads, at once or on demand. */
function modulesOf({ inputs }: Metafile, entry: string): string[] {
  const first = Object.keys(inputs).find((path) => resolve(path) === resolve(entry));
  const found = new Set(first === undefined ? [] : [first]);
  for (const path of found) {
    for (const { path: imported, external } of inputs[path]?.imports ?? [])
      if (!external) found.add(imported);
  }
  return [...found].filter((path) => !STORE.test(`/${path}`));
}

/** What code without spaces, comments, types and imports reads of others: `.name`, `{name}`, `{name:other}`, `'name'`. */
const NAMED = /(?<!\.\.)\.(\w+)|(?<=[{,])(\w+)(?=[},:=])|(["'`])(\w+)\3/g;
const IMPORTED = /\b(?:im|ex)port\s*\{[^}]*\}\s*from\b/g;

/** Names of properties in a module, of patterns that take them, and texts that properties may be looked up by. */
async function namesIn(source: string, path: string): Promise<ReadonlySet<string>> {
  // Data is not code.
  if (path.endsWith('.json')) return new Set();
  if (!path.endsWith('.ts')) return new Set(source.match(/\w+/g));
  const { code } = await transform(source, { loader: 'ts', minifyWhitespace: true });
  return new Set(
    Array.from(
      code.replaceAll(IMPORTED, '').matchAll(NAMED),
      ([, property, taken, , text]) => (property ?? taken ?? text)!,
    ),
  );
}

/** The store's module with the named parts, and those that they are made of. */
function withParts(source: string, named: readonly ReadonlySet<string>[]): string {
  const makers = new Map([...source.matchAll(PART)].map(([, part, maker]) => [part!, maker!]));
  if (makers.size === 0) throw new Error('lib/store/store.ts has no table of parts');
  const kept = new Set([...makers.keys()].filter((part) => named.some((names) => names.has(part))));
  for (const part of kept) {
    for (const [, needed] of makers.get(part)!.matchAll(/\bs\.(\w+)/g))
      if (makers.has(needed!)) kept.add(needed!);
  }
  return source.replace(PART, (line, part: string) => (kept.has(part) ? line : ''));
}

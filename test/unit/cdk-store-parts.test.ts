import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { storeParts } from '../../cdk/store-parts.ts';
import { awsClients } from '../../lib/store/clients.ts';
import { createStore } from '../../lib/store/store.ts';

const store = join(import.meta.dirname, '../../lib/store/store.ts');
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'store-parts-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The parts that the store of a function with this code has. */
async function partsFor(code: string): Promise<string[]> {
  const entry = join(folder, `entry-${code.length}.ts`);
  writeFileSync(
    entry,
    `import { createStore } from ${JSON.stringify(store)};\nexport const store = createStore;\n${code}`,
  );
  const parts = await storeParts([entry]);
  const built = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    plugins: [parts.of(entry)],
  });
  return [...built.outputFiles[0]!.text.matchAll(/^ {2}(\w+): \(s\) =>/gm)].map(([, part]) => part!);
}

test('every part of the store stands in its table in the form that bundles are cut by', () => {
  const parts = createStore(
    { tableName: 't', objectsBucket: 'b', queueUrls: {} } as Parameters<typeof createStore>[0],
    awsClients(),
  );
  const written = [...readFileSync(store, 'utf8').matchAll(/^ {2}(\w+): \(s\) =>/gm)].map(
    ([, part]) => part!,
  );
  expect(written.toSorted()).toEqual(
    Object.keys(parts)
      .filter((part) => !['environment', 'clients', 'retries'].includes(part))
      .toSorted(),
  );
});

test.each([
  ['as a property', 'export const f = (deps) => deps.store.stars.of(1);'],
  ['as a parameter without a type', 'export const removers = { project: ({ stars }, id) => stars.of(id) };'],
  ['by a text', "export const f = (deps) => deps.store[['st', 'stars'][1]];"],
  ['by destructuring', 'export const f = (deps) => { const { stars } = deps.store; return stars; };'],
  [
    'by destructuring under another name',
    'export const f = (d) => { const { stars: s1 } = d.store; return s1; };',
  ],
  [
    'by destructuring what holds the store',
    'export const f = ({ store: { stars } }: Deps) => stars;\ntype Deps = any;',
  ],
  [
    'as a parameter',
    'export const f = ({ stars }: Store, of: number) => stars;\ntype Store = { stars: number };',
  ],
])(
  'a bundle has the part of the store that its code names %s, what that is made of, and nothing else',
  async (_, code) => {
    expect(await partsFor(code)).toEqual(['table', 'stars']);
  },
);

test('a part that is made of others brings them', async () => {
  expect(await partsFor('export const f = ({ store }) => store.scimIdentities;')).toEqual(
    expect.arrayContaining(['table', 'counters', 'outbox', 'names', 'search', 'users', 'scimIdentities']),
  );
});

test.each([
  ['a comment', '// stars\n/** stars */\nexport const f = 1;'],
  ['a type', 'export const f = (given: { readonly stars: number }) => given;\nexport type stars = 1;'],
  ['an import', "import { stars } from './stars-of-others.ts';\nexport const f = { ...stars.project };"],
  ['a variable', 'export const f = (stars) => [...stars, stars.length];'],
  ['a sentence', "export const f = 'Number of stars';"],
  ['an expression', 'export const f = /a(?:b)?stars/;'],
])('%s names no part of the store', async (_, code) => {
  writeFileSync(join(folder, 'stars-of-others.ts'), 'export const stars = { project: {} };');
  expect(await partsFor(code)).toEqual([]);
});

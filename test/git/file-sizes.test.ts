import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AttributeName } from '../../lib/git/archive/attributes.ts';
import type { Oid } from '../../lib/git/oid.ts';
import type { PackStore } from '../../lib/git/pack/store.ts';
import { fileSizes } from '../../lib/git/tree/file-sizes.ts';
import { GitFixture, generateHistory } from './history-fixture.ts';

const NAMES = [
  'linguist-vendored',
  'linguist-generated',
  'linguist-language',
] as const satisfies AttributeName[];
const FILES: readonly (readonly [mode: string, path: string, data: string])[] = [
  [
    '100644',
    '.gitattributes',
    [
      '*.inc linguist-language=PHP',
      'theirs/** linguist-vendored',
      'theirs/ours.c -linguist-vendored',
      '*.gen linguist-generated=true',
      'said.gen !linguist-generated',
      '/top.c linguist-language=Objective-C linguist-generated',
      '',
    ].join('\n'),
  ],
  ['100644', 'inner/.gitattributes', '*.inc linguist-language=C++\n*.gen -linguist-generated\n'],
  ...[
    'a.inc',
    'top.c',
    'inner/a.inc',
    'inner/a.gen',
    'inner/top.c',
    'theirs/x.c',
    'theirs/ours.c',
    'theirs/deep/y.c',
    'b.gen',
    'said.gen',
  ].map((path, i) => ['100644', path, 'x'.repeat(i * 37)] as const),
  ['100755', 'run.sh', '#!/bin/sh\n'],
  ['120000', 'link.c', 'top.c'],
  ['160000', 'module', '1'.repeat(40)],
  ['100644', 'large.c', 'large '.repeat(100_000)],
];

const fixture = new GitFixture();
let store: PackStore;
beforeAll(async () => {
  generateHistory(fixture, { seed: 5, commits: 30, skew: false });
  let stream = 'commit refs/heads/attributed\ncommitter C <c@example.com> 1700000001 +0000\ndata 1\nm\n';
  for (const [mode, path, data] of FILES)
    stream +=
      mode === '160000'
        ? `M ${mode} ${data} ${path}\n`
        : `M ${mode} inline ${path}\ndata ${data.length}\n${data}\n`;
  fixture.feed(`${stream}\n`, 'fast-import', '--quiet');
  ({ store } = await fixture.load());
});
afterAll(() => fixture[Symbol.dispose]());

async function listed(revision: string, wanted: (path: string) => boolean = () => true) {
  const files: string[] = [];
  const tree = fixture.git('rev-parse', `${revision}^{tree}`).trim() as Oid;
  for await (const { path, size, attributes } of fileSizes(store, tree, NAMES, (file) => wanted(file.path))) {
    const said = NAMES.map((name) => {
      const state = attributes.get(name);
      return `${name}: ${state === true ? 'set' : state === false ? 'unset' : (state ?? 'unspecified')}`;
    });
    files.push(`${path} ${size} ${said.join(', ')}`);
  }
  return files;
}

test.each(['attributed', 'HEAD'])('files of %s and their attributes are those of git', async (revision) => {
  const fields = (...args: string[]) => fixture.git(...args).split('\0');
  const files = fields('ls-tree', '-r', '-l', '-z', revision).flatMap((line) => {
    const [, mode, size, path = ''] = /^(\d+) \w+ \w+ +(\S+)\t(.*)$/.exec(line) ?? [];
    return isPlain(path) && (mode === '100644' || mode === '100755') ? [{ path, size }] : [];
  });
  expect(files.length).toBeGreaterThan(3);
  fixture.git('read-tree', revision);
  const paths = files.map(({ path }) => path);
  // A path, an attribute and its state, three fields each.
  const told = fields('check-attr', '--cached', '-z', ...NAMES, '--', ...paths);
  const expected = files.map(({ path, size }, i) => {
    const said = NAMES.map((name, j) => `${name}: ${told[3 * (NAMES.length * i + j) + 2]}`);
    return `${path} ${size} ${said.join(', ')}`;
  });
  expect(await listed(revision, isPlain)).toEqual(expected);
});

/** Names that are not UTF-8 are encoded differently here. */
const isPlain = (path: string) => /^[\x20-\x7e]+$/.test(path);

test('only wanted files', async () => {
  const files = await listed('attributed', (path) => path.startsWith('theirs/'));
  expect(files.map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([
    'theirs/deep/y.c 259',
    'theirs/ours.c 222',
    'theirs/x.c 185',
  ]);
  expect(await listed('attributed', () => false)).toEqual([]);
});

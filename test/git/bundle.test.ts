import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseBundleHeader } from '../../lib/git/bundle.ts';
import { bundleBuilder } from '../../lib/git/bundle-builder.ts';
import { CorruptData } from '../../lib/git/corrupt-data.ts';
import { dueKinds } from '../../lib/git/maintenance/due.ts';
import { type Oid, ZERO_OID } from '../../lib/git/oid.ts';
import { indexPack } from '../../lib/git/pack/index-pack.ts';
import { PackStore } from '../../lib/git/pack/store.ts';
import type { DerivedFile, DerivedKind, PackDescription } from '../../lib/git/ports.ts';
import type { RefName } from '../../lib/git/refname.ts';
import { addPack, makeHistory, packObjects, revList, revParse, scratch } from './pack-fixture.ts';
import { ENVIRONMENT, git } from './repository-files.ts';
import { type Host, startHost } from './wire-host.ts';

const MAIN = 'refs/heads/main' as RefName;
const dir = scratch();
const path = join(dir.path, 'source.git');
const run = promisify(execFile);
let host: Host;
let bundle: Buffer;
let fetched = 0;
let asked = 0;
const files = createServer((_request, response) => {
  fetched++;
  response.end(bundle);
});
const fileUrl = () => `http://127.0.0.1:${(files.address() as AddressInfo).port}/bundle?signed=1`;

beforeAll(async () => {
  makeHistory(path, 60);
  await new Promise<void>((resolve) => files.listen(0, '127.0.0.1', resolve));
  host = await startHost({ bundles: { url: async () => fileUrl(), request: async () => void asked++ } });
  const { memory } = host;
  await addPack(memory, await indexPack([packObjects(path, ['--all'])]));
  const tags = ['refs/tags/v1', 'refs/tags/v1-again', 'refs/tags/tree-tag'] as RefName[];
  const named = [[MAIN, 'main~1'], ...tags.map((name) => [name, name])] as [RefName, string][];
  for (const [name, revision] of named) {
    const to = revParse(path, revision);
    const peeled = name === MAIN ? to : revParse(path, `${revision}^{}`);
    await memory.refs.compareAndSwap([{ name, from: ZERO_OID, to, peeled }]);
  }
  const store = new PackStore(memory.objects);
  const packs = await memory.objects.listPacks();
  const made = await bundleBuilder.build({
    store,
    refs: memory.refs,
    packs,
    deadline: Infinity,
    stopsAt: Infinity,
  });
  const { content, note } = made!;
  if (content.kind !== 'file') throw new Error('a bundle is a file');
  bundle = readFileSync(content.path);
  await memory.storeDerived('bundle', content, { packs: [], objects: 0, note });
  await rm(content.path);
  // The branch has moved since.
  await move(revParse(path, 'main~1'), revParse(path, 'main'));
});

afterAll(async () => {
  files.close();
  await host.close();
  dir[Symbol.dispose]();
});

const move = (from: Oid, to: Oid) => host.memory.refs.compareAndSwap([{ name: MAIN, from, to }]);

/** The command's answer, packet by packet. */
async function ask(): Promise<string[]> {
  const request = ['command=bundle-uri\n', 'object-format=sha1'].map(
    (line) => (line.length + 4).toString(16).padStart(4, '0') + line,
  );
  const answer = await fetch(`${host.url}/git-upload-pack`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-git-upload-pack-request', 'Git-Protocol': 'version=2' },
    body: `${request.join('')}00010000`,
  });
  const text = await answer.text();
  const lines: string[] = [];
  for (let at = 0; at < text.length; ) {
    const length = Number.parseInt(text.slice(at, at + 4), 16);
    lines.push(text.slice(at + 4, at + Math.max(4, length)));
    at += Math.max(4, length);
  }
  return lines;
}

test('git verifies the bundle, which contains the branch, the tags and everything they reach', () => {
  const file = join(dir.path, 'made.bundle');
  writeFileSync(file, bundle);
  const empty = join(dir.path, 'empty.git');
  git(dir.path, ['init', '-q', '--bare', empty]);
  expect(git(empty, ['bundle', 'verify', file]).toString()).toContain('records a complete history');
  git(empty, ['fetch', '-q', file, 'refs/*:refs/*']);
  git(empty, ['fsck', '--strict']);
  expect(revList(empty, ['--all'])).toEqual(revList(path, ['main~1', 'v1', 'v1-again', 'tree-tag']));
});

test('a client with bundle-uri clones from the bundle and fetches the rest', async () => {
  const before = fetched;
  host.requests.length = 0;
  const clone = join(dir.path, 'clone');
  await run('git', ['clone', '-q', `--bundle-uri=${fileUrl()}`, host.url, clone], { env: ENVIRONMENT });
  expect(fetched).toBe(before + 1);
  expect(revParse(clone, 'HEAD')).toBe(revParse(path, 'main'));
  expect(revParse(clone, 'refs/bundles/main')).toBe(revParse(path, 'main~1'));
  git(clone, ['fsck', '--strict']);
  expect(host.errors).toEqual([]);
});

test('bundle-uri is advertised and returns the bundle', async () => {
  const url = `${host.url}/info/refs?service=git-upload-pack`;
  const advertised = await fetch(url, { headers: { 'Git-Protocol': 'version=2' } });
  expect(await advertised.text()).toContain('000fbundle-uri\n');
  expect(await ask()).toEqual(['bundle.version=1', 'bundle.mode=all', `bundle.default.uri=${fileUrl()}`, '']);
});

test('bundle-uri returns nothing when a ref has dropped commits of the bundle', async () => {
  await move(revParse(path, 'main'), revParse(path, 'main~5'));
  try {
    expect(await ask()).toEqual(['']);
  } finally {
    await move(revParse(path, 'main~5'), revParse(path, 'main'));
  }
  const tag = 'refs/tags/tree-tag' as RefName;
  host.options.visible = (name) => name !== tag;
  try {
    expect(await ask()).toEqual(['']);
  } finally {
    delete host.options.visible;
  }
  expect(await ask()).toHaveLength(4);
});

test('without bundles, bundle-uri is not advertised and returns nothing', async () => {
  const { bundles } = host.options;
  delete host.options.bundles;
  const url = `${host.url}/info/refs?service=git-upload-pack`;
  const advertised = await fetch(url, { headers: { 'Git-Protocol': 'version=2' } });
  expect(await advertised.text()).not.toContain('bundle-uri');
  expect(await ask()).toEqual(['']);
  host.options.bundles = bundles!;
});

test('a bundle is made for repositories of 10 to 400 MB when somebody asks for one, and again when they have grown', () => {
  const packs = (...sizes: number[]): PackDescription[] =>
    sizes.map((mb, n) => ({
      ...{ id: `pack-${n}`, source: 'receive', layout: 'joined', location: 'there' },
      ...{ objectCount: 1000 * mb, packSize: mb * 2 ** 20, indexSize: 0 },
    }));
  const file: DerivedFile = {
    ...{ kind: 'bundle', id: 'bundle-1', location: 'there', size: 1 },
    provenance: { packs: ['pack-0'], objects: 20_000, note: '' },
  };
  const isDue = (of: PackDescription[], made?: DerivedFile, asked: DerivedKind[] = []) =>
    dueKinds(of, (kind) => (kind === 'bundle' ? made : undefined), asked).includes('bundle');
  expect([isDue(packs(20)), isDue(packs(20), undefined, ['bundle'])]).toEqual([false, true]);
  expect([isDue(packs(5), undefined, ['bundle']), isDue(packs(401), undefined, ['bundle'])]).toEqual([
    false,
    false,
  ]);
  expect([isDue(packs(20, 3), file), isDue(packs(20, 5), file)]).toEqual([false, true]);
});

test('a small repository without a bundle has none made for who asks', async () => {
  const small = await startHost({ bundles: host.options.bundles! });
  const before = asked;
  const answer = await fetch(`${small.url}/git-upload-pack`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-git-upload-pack-request', 'Git-Protocol': 'version=2' },
    body: '0017command=bundle-uri\n00010000',
  });
  expect([await answer.text(), asked]).toEqual(['0000', before]);
  await small.close();
});

test('parsing the header of any bytes gives refs, "incomplete", or an error', () => {
  fc.assert(
    fc.property(fc.nat(400), fc.nat(255), fc.nat(400), (at, value, end) => {
      const damaged = Buffer.from(bundle.subarray(0, end));
      if (at < end) damaged[at] = value;
      try {
        const refs = parseBundleHeader(damaged);
        if (refs) expect(refs.every(({ oid }) => oid.length === 40)).toBe(true);
      } catch (error) {
        expect(error).toBeInstanceOf(CorruptData);
      }
    }),
  );
});

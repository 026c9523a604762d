import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryRepository } from '../../lib/git/memory.ts';
import type { Oid } from '../../lib/git/oid.ts';
import { type IndexedPack, indexPack } from '../../lib/git/pack/index-pack.ts';
import { PackCache } from '../../lib/git/pack/pack-cache.ts';
import { PackStore } from '../../lib/git/pack/store.ts';
import { git } from './repository-files.ts';

/** A directory that is removed at the end of its scope: `using dir = scratch()`. */
export function scratch(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), 'pack-test-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/**
 * A bare repository with `commits` commits: three branches that merge now and then, an octopus, renames, mode changes,
 * a link, a submodule, an empty tree, names and messages that are not UTF-8, tags of commits, tags, trees and blobs.
 * The same for the same seed.
 */
export function makeHistory(path: string, commits = 120, seed = 1): void {
  git(tmpdir(), ['init', '-q', '--bare', '-b', 'main', path]);
  git(path, ['fast-import', '--quiet'], historyStream(commits, seed));
  const tree = git(path, ['rev-parse', 'main^{tree}']).toString().trim();
  git(path, ['tag', '-a', '-m', 'a tag', 'v1', 'main~3']);
  git(path, ['tag', '-a', '-m', 'a tag of a tag', 'v1-again', 'v1']);
  git(path, ['tag', '-a', '-m', 'a tree', 'tree-tag', tree]);
  git(path, ['tag', 'blob-tag', 'main:big.txt']);
  git(path, ['config', 'gc.auto', '0']);
}

function historyStream(commits: number, seed: number): Buffer {
  const random = generator(seed);
  const parts: Buffer[] = [];
  const say = (text: string) => parts.push(Buffer.from(text, 'latin1'));
  const branches = ['refs/heads/main', 'refs/heads/topic/one', 'refs/heads/two'];
  const tips: number[] = [];
  const lines = Array.from({ length: 300 }, (_, i) => `line ${i} of the big file`);
  const data = (text: string) => say(`data ${text.length}\n${text}\n`);
  for (let i = 1; i <= commits; i++) {
    const at = i < 4 ? i - 1 : random(3);
    const first = i < 4 ? (i === 1 ? undefined : 1) : tips[at];
    say(`commit ${branches[at]}\nmark :${i}\n`);
    say(`author A\xe9 U Thor <a@example.com> ${1600000000 + i * 97 - random(300)} +0230\n`);
    say(`committer C <c@example.com> ${1600000000 + i * 100} -0700\n`);
    if (i % 17 === 0) say('encoding ISO-8859-1\n');
    data(`commit ${i}${i % 17 === 0 ? ' caf\xe9' : ''}\n\nbody\n`);
    if (first !== undefined) say(`from :${first}\n`);
    if (i >= 10 && i % 9 === 0) say(`merge :${tips[(at + 1) % 3]}\n`);
    if (i === 40) say(`merge :${tips[(at + 1) % 3]}\nmerge :${tips[(at + 2) % 3]}\n`);
    tips[at] = i;
    if (i === 60) say('deleteall\n');
    lines[random(lines.length)] = `changed by ${i}: ${'x'.repeat(random(60))}`;
    say('M 100644 inline big.txt\n');
    data(lines.join('\n'));
    const directory = `dir-${random(4)}/sub-${random(3)}`;
    say(`M 100644 inline ${directory}/file-${random(12)}.txt\n`);
    data(`file of commit ${i}\n${'y'.repeat(random(200))}`);
    if (i % 7 === 0) {
      say(`M 100755 inline ${directory}/script.sh\n`);
      data(`#!/bin/sh\necho ${i}\n`);
    }
    if (i % 11 === 0) {
      say('M 120000 inline link\n');
      data(`target-${i}`);
    }
    if (i % 13 === 0) say(`M 160000 ${String(i).padStart(40, 'a')} vendored\n`);
    if (i % 15 === 0) {
      say(`M 100644 inline "caf\\351-${i}.txt"\n`);
      data(`latin ${i}`);
    }
    if (i % 19 === 0) say(`R ${directory} renamed-${i}\n`);
    if (i % 23 === 0) say('D link\n');
    say('\n');
  }
  say(`commit refs/heads/empty\ncommitter C <c@example.com> 1700000000 +0000\n`);
  data('an empty tree\n');
  say(`from :${commits}\ndeleteall\n\n`);
  say('done\n');
  return Buffer.concat(parts);
}

/** Numbers below `n`, the same for the same seed (a linear congruential generator). */
export function generator(seed: number): (n: number) => number {
  let state = seed >>> 0;
  return (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

/** A pack made by git of what `revisions` select (`git rev-list` arguments). */
export function packObjects(
  repository: string,
  revisions: readonly string[],
  options: readonly string[] = [],
): Buffer {
  const all = revisions.includes('--all') ? ['--all'] : [];
  const named = revisions.filter((revision) => revision !== '--all');
  return git(
    repository,
    ['pack-objects', '--revs', '--stdout', '-q', '--delta-base-offset', ...all, ...options],
    named.map((name) => `${name}\n`).join(''),
  );
}

/** Ids of `git rev-list --objects`, sorted. */
export function revList(repository: string, args: readonly string[]): string[] {
  const text = git(repository, ['rev-list', '--objects', '--no-object-names', ...args]).toString();
  return text.split('\n').filter(Boolean).sort();
}

export function revParse(repository: string, name: string): Oid {
  return git(repository, ['rev-parse', name]).toString().trim() as Oid;
}

/** Bytes in pieces of varying size, as received from a connection. */
export function* pieces(bytes: Uint8Array, sizes: (n: number) => number, most = 5000): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; ) {
    const to = at + 1 + sizes(most);
    yield bytes.subarray(at, to);
    at = to;
  }
}

/** A repository in memory that lists these packs, and a store over it. */
export async function storeOf(
  ...packs: Uint8Array[]
): Promise<{ repository: MemoryRepository; store: PackStore }> {
  const repository = new MemoryRepository();
  const store = new PackStore(repository.objects, {
    cache: new PackCache({ blockBytes: 4 << 20, baseBytes: 1 << 20 }),
  });
  for (const pack of packs) await addPack(repository, await indexPack([pack], { store }));
  await store.refresh();
  return { repository, store };
}

export async function addPack(repository: MemoryRepository, indexed: IndexedPack): Promise<void> {
  const { content, objectCount } = indexed;
  const stored = await repository.objects.newPack(content, { source: 'receive', objectCount });
  await repository.refs.compareAndSwap([], { packs: [stored] });
}

export async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(Buffer.from(chunk));
  return Buffer.concat(parts);
}

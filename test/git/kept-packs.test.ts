import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { CorruptData } from '../../lib/git/corrupt-data.ts';
import { MemoryRepository } from '../../lib/git/memory.ts';
import { ZERO_OID } from '../../lib/git/oid.ts';
import { memoryAccess } from '../../lib/git/pack/content.ts';
import { indexPack } from '../../lib/git/pack/index-pack.ts';
import { listObjects } from '../../lib/git/pack/object-list.ts';
import { PackCache } from '../../lib/git/pack/pack-cache.ts';
import { PackStore, type UnlistedPack } from '../../lib/git/pack/store.ts';
import { writePack } from '../../lib/git/pack/write.ts';
import { encodeCommit, encodeTree, hashObject } from '../../lib/git/parse.ts';
import type { RandomAccess } from '../../lib/git/ports.ts';
import { enumerate } from '../../lib/git/reachable.ts';
import type { RefName } from '../../lib/git/refname.ts';
import { keepFirstClone } from '../../lib/git/wire/first-clone.ts';
import type { KeptPack } from '../../lib/git/wire/kept-pack.ts';
import { type PackRequest, packfile } from '../../lib/git/wire/packfile.ts';
import { buildPack } from '../harness/build-pack.ts';
import { addPack, collect, makeHistory, packObjects, revParse, scratch } from './pack-fixture.ts';
import { git } from './repository-files.ts';
import { startHost, Workspace } from './wire-host.ts';

const dir = scratch();
const path = join(dir.path, 'source.git');
const repository = new MemoryRepository();

beforeAll(async () => {
  makeHistory(path, 160);
  // As a push leaves it: files of a commit are deltas against versions of other commits.
  const store = new PackStore(repository.objects);
  await addPack(repository, await indexPack([packObjects(path, ['--all'])], { store }));
});
afterAll(() => dir[Symbol.dispose]());

/** Copies in memory. Each is asked for by another name, so that only the latest one is of use. */
class Copies {
  pack = Buffer.alloc(0);
  index: Uint8Array | undefined;
  /** Names and bytes of copies. */
  readonly named = new Map<string, Buffer>();
  readonly atOnce: boolean[] = [];
  forgotten = 0;
  /** Bytes that were read of the latest copy. */
  read = 0;
  failing: Error | undefined;
  #serial = 0;

  of(name: string): KeptPack {
    return {
      open: async () => (this.named.has(name) ? pieces(this.named.get(name)!) : undefined),
      keep: (pack, indexed) => this.#keep(name, pack, indexed),
      latest: async () => this.#latest(),
      forgetLatest: async () => {
        this.forgotten++;
      },
    };
  }

  async *#keep(name: string, pack: AsyncIterable<Uint8Array>, indexed: Parameters<KeptPack['keep']>[1]) {
    const sent: Uint8Array[] = [];
    for await (const piece of pack) {
      sent.push(Buffer.from(piece));
      yield piece;
    }
    if (indexed === undefined) return;
    this.atOnce.push(indexed.atOnce);
    this.pack = Buffer.concat(sent);
    this.index = indexed.index;
    this.named.set(name, this.pack);
    this.#serial++;
  }

  #latest(): UnlistedPack | undefined {
    const { pack, index } = this;
    if (index === undefined) return undefined;
    const counted = (access: RandomAccess): RandomAccess => ({
      size: access.size,
      read: async (offset, length) => {
        if (this.failing) throw this.failing;
        this.read += length;
        return access.read(offset, length);
      },
    });
    const name = `kept ${this.#serial}`;
    return {
      description: {
        id: name,
        location: name,
        source: 'compact',
        objectCount: pack.readUInt32BE(8),
        packSize: pack.length,
        indexSize: index.length,
        layout: 'split',
      },
      open: (part) => (part === 'pack' ? counted(memoryAccess(pack)) : memoryAccess(index)),
    };
  }
}

async function* pieces(bytes: Uint8Array) {
  yield bytes;
}

const errors: unknown[] = [];

/** The pack of a clone of depth 1. */
function shallow(revision: string, kept: KeptPack, ofsDelta = true): Promise<Buffer> {
  const oid = revParse(path, revision);
  const request: PackRequest = {
    wants: [oid],
    common: new Set(),
    cut: new Set([oid]),
    tags: new Map(),
    filter: undefined,
    notice: undefined,
    options: {
      thinPack: true,
      ofsDelta,
      includeTag: false,
      progress: false,
      sideBand: 'none',
    } as PackRequest['options'],
    onError: (cause) => errors.push(cause),
    failureText: undefined,
    limit: undefined,
    kept,
  };
  return collect(packfile(new PackStore(repository.objects), request));
}

/** Lets git judge the pack. @returns the index that git makes of it */
function accepted(pack: Buffer, revision: string): Buffer {
  using own = scratch();
  const oid = revParse(path, revision);
  git(own.path, ['init', '-q', '--bare', '.']);
  writeFileSync(join(own.path, 'shallow'), `${oid}\n`);
  git(own.path, ['index-pack', '--strict', '--stdin'], pack);
  git(own.path, ['update-ref', 'refs/heads/main', oid]);
  git(own.path, ['fsck', '--strict']);
  const held = git(own.path, ['cat-file', '--batch-all-objects', '--batch-check=%(objectname)']).toString();
  const listed = git(path, ['rev-list', '--objects', '--no-object-names', '--no-walk', oid]).toString();
  expect(held.trim().split('\n')).toEqual(listed.trim().split('\n').sort());
  const folder = join(own.path, 'objects/pack');
  return readFileSync(join(folder, readdirSync(folder).find((name) => name.endsWith('.idx'))!));
}

test('a shallow clone is copied from the last one, but for what changed since, and is what git makes of it', async () => {
  const copies = new Copies();
  for (const [i, revision] of ['main~40', 'main~39', 'main~1', 'main', 'two', 'main'].entries()) {
    const ofsDelta = i % 3 !== 1;
    const before = copies.read;
    const pack = await shallow(revision, copies.of(`${i}`), ofsDelta);
    expect(accepted(pack, revision), revision).toEqual(Buffer.from(copies.index!));
    expect(copies.read > before, revision).toBe(i > 0);
  }
  expect(errors).toEqual([]);
});

test('the same clone again is the copy of the last one, byte for byte', async () => {
  const copies = new Copies();
  const first = await shallow('main', copies.of('first'));
  const again = await shallow('main', copies.of('again'));
  expect(again.equals(first)).toBe(true);
  expect(copies.read).toBeGreaterThanOrEqual(first.length);
});

test('a copy is indexed whose packs are copied whole, and are dropped from memory while it is sent', async () => {
  const pushed = new MemoryRepository();
  for (const revisions of [['main~1'], ['main', '^main~1']]) {
    const options = { store: new PackStore(pushed.objects) };
    await addPack(pushed, await indexPack([packObjects(path, revisions)], options));
  }
  const cache = new PackCache();
  const store = new PackStore(pushed.objects, { cache });
  const list = await enumerate(store, {
    include: [revParse(path, 'main')],
    shallow: new Set([revParse(path, 'main')]),
  });
  let index: Uint8Array | undefined;
  const pack: Uint8Array[] = [];
  for await (const piece of writePack(store, list, { onIndex: (made) => (index = made) })) {
    pack.push(Buffer.from(piece));
    cache.dropUnused();
    cache.dropUnused();
  }
  expect(accepted(Buffer.concat(pack), 'main')).toEqual(Buffer.from(index!));
});

test('the index of a copy of many objects is that which is made when such a pack is pushed', async () => {
  const pushed = new MemoryRepository();
  const files = Array.from({ length: 1500 }, (_, i) => ({
    type: 'blob' as const,
    data: Buffer.from(`${i}\n`),
  }));
  const { content, objectCount, oids } = buildPack(files);
  const stored = await pushed.objects.newPack(content, { source: 'receive', objectCount });
  await pushed.refs.compareAndSwap([], { packs: [stored] });
  const store = new PackStore(pushed.objects);
  // Not all of them: the pack is not copied whole.
  const list = await listObjects(store, oids.slice(1));
  let index: Uint8Array | undefined;
  const pack: Uint8Array[] = [];
  for await (const piece of writePack(store, list, { onIndex: (made) => (index = made) }))
    pack.push(Buffer.from(piece));
  const received = await indexPack([Buffer.concat(pack)]);
  expect(Buffer.from(index!).equals(received.content.index)).toBe(true);
});

test('a first clone is kept before anybody asks for it, unless the time of the worker ends first', async () => {
  const pushed = new MemoryRepository();
  // More than what is made as fast as a copy is looked for.
  const blob = { type: 'blob' as const, data: randomBytes(4_500_000) };
  const file = { mode: 0o100644, name: 'f', oid: hashObject('blob', blob.data) };
  const tree = { type: 'tree' as const, data: encodeTree([file]) };
  const person = { name: 'A', email: 'a@example.com', seconds: 1_700_000_000, timezone: '+0000' };
  const about = { parents: [], author: person, committer: person, message: 'first' };
  const commit = {
    type: 'commit' as const,
    data: encodeCommit({ tree: hashObject('tree', tree.data), ...about }),
  };
  const { content, objectCount } = buildPack([commit, tree, blob]);
  const stored = await pushed.objects.newPack(content, { source: 'receive', objectCount });
  const main = { name: 'refs/heads/main' as RefName, from: ZERO_OID };
  await pushed.refs.compareAndSwap([{ ...main, to: hashObject('commit', commit.data) }], { packs: [stored] });
  const warned = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const copies = new Copies();
  const keep = (signal: AbortSignal) =>
    keepFirstClone(pushed.objects, pushed.refs, (name) => copies.of(name), signal);
  await keep(AbortSignal.abort(new Error('it ended')));
  expect(copies.named.size).toBe(0);
  expect(warned.mock.calls.flat().join()).toContain('it ended');
  await keep(new AbortController().signal);
  expect(copies.named.size).toBe(1);
  expect(warned).toHaveBeenCalledTimes(1);
  warned.mockRestore();
});

test('a copy is kept at once unless most objects were taken over', async () => {
  const copies = new Copies();
  await shallow('main~1', copies.of('a'));
  await shallow('main', copies.of('b'));
  const oldest = git(path, ['rev-list', '--max-parents=0', 'main']).toString().trim();
  await shallow(oldest, copies.of('c'));
  expect(copies.atOnce).toEqual([true, false, true]);
});

test('a copy that is gone is not used', async () => {
  const copies = new Copies();
  await shallow('main~1', copies.of('first'));
  copies.failing = new Error('gone');
  accepted(await shallow('main', copies.of('second')), 'main');
  expect(errors).toEqual([]);
});

test('a damaged copy ends the pack without its trailer, and is not used again', async () => {
  const copies = new Copies();
  await shallow('main~1', copies.of('first'));
  copies.pack = Buffer.from(copies.pack);
  for (let at = 30; at < copies.pack.length - 20; at += 40) copies.pack[at]! ^= 1;
  const pack = await shallow('main', copies.of('second'));
  expect(errors.splice(0)).toEqual([expect.any(CorruptData)]);
  expect(copies.forgotten).toBe(1);
  using own = scratch();
  git(own.path, ['init', '-q', '--bare', '.']);
  expect(() => git(own.path, ['index-pack', '--stdin'], pack)).toThrow();

  copies.index = Buffer.alloc(2000);
  accepted(await shallow('main', copies.of('third')), 'main');
  expect(copies.forgotten).toBe(2);
});

test('git clones what it is sent from copies, of one commit after another', async () => {
  const copies = new Copies();
  const host = await startHost({ keptPacks: (name) => copies.of(name) });
  const work = await Workspace.create();
  try {
    const source = 'source';
    await work.git('.', ['init', '-q', '-b', 'main', source]);
    const write = (name: string, text: string | Buffer) =>
      writeFileSync(work.path(`${source}/${name}`), text);
    // More than what is made as fast as a copy is looked for.
    write('large', randomBytes(4_500_000));
    for (let n = 0; n < 3; n++) {
      write('file', `${'text of many words\n'.repeat(200)}${n}\n`);
      write(`new ${n}`, `${n}\n`);
      await work.git(source, ['add', '.']);
      await work.git(source, ['commit', '-q', '-m', `change ${n}`]);
      await work.git(source, ['push', '-q', host.url, 'main']);
      for (const again of [false, true]) {
        const clone = `clone-${n}-${again}`;
        await work.git('.', ['clone', '-q', '--depth', '1', host.url, clone]);
        expect(await work.git(clone, ['fsck', '--strict'])).toBe('');
        const tree = await work.git(source, ['ls-tree', '-r', 'HEAD']);
        expect(await work.git(clone, ['ls-tree', '-r', 'HEAD'])).toBe(tree);
      }
    }
    expect(copies.named.size).toBe(3);
    expect(copies.read).toBeGreaterThan(1_000_000);
    expect(host.errors).toEqual([]);
  } finally {
    await Promise.all([host.close(), work.remove()]);
  }
});

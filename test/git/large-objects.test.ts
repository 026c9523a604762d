/** Blobs too large for memory are received, sent and read as streams. */
import { execFileSync } from 'node:child_process';
import { createHash, randomFillSync } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ArchiveFormat, archive } from '../../lib/git/archive.ts';
import type { CorruptionCode } from '../../lib/git/corrupt-data.ts';
import { MemoryRepository } from '../../lib/git/memory.ts';
import type { Oid } from '../../lib/git/oid.ts';
import { BLOB, OFS_DELTA, writeDistance, writeEntryHeader } from '../../lib/git/pack/entry.ts';
import { type IndexPackLimits, indexPack } from '../../lib/git/pack/index-pack.ts';
import { listObjects } from '../../lib/git/pack/object-list.ts';
import { keptBytes } from '../../lib/git/pack/replay.ts';
import { PackStore } from '../../lib/git/pack/store.ts';
import { digestObject, streamObject } from '../../lib/git/pack/stream-object.ts';
import { writePack } from '../../lib/git/pack/write.ts';
import type { ObjectDatabase, PackDescription } from '../../lib/git/ports.ts';
import { underWatch } from '../../lib/git/work.ts';
import { collectGarbage } from '../harness/collect-garbage.ts';
import { named, PackBuilder } from '../hostile/pack-builder.ts';
import { stopsOf } from '../unit/git/stops.ts';
import { addPack, generator, packObjects, pieces, revList, scratch } from './pack-fixture.ts';
import { collected, readZip } from './read-zip.ts';
import { git } from './repository-files.ts';

const MB = 2 ** 20;
const home = scratch();
const source = join(home.path, 'source');
let commit: Oid;
let pack: Buffer;
const files: Record<string, Buffer> = {
  'noise.bin': randomFillSync(Buffer.alloc(8 * MB + 17)),
  'nothing.bin': Buffer.alloc(48 * MB),
  'small.txt': Buffer.from('small\n'),
  'text.txt': Buffer.from(Array.from({ length: 100_000 }, (_, i) => `line ${i}`).join('\n')),
};

beforeAll(() => {
  mkdirSync(source);
  git(source, ['init', '-q', '-b', 'main']);
  for (const [name, data] of Object.entries(files)) writeFileSync(join(source, name), data);
  git(source, ['add', '.']);
  git(source, ['commit', '-q', '-m', 'large']);
  commit = git(source, ['rev-parse', 'HEAD']).toString().trim() as Oid;
  pack = packObjects(source, ['main']);
});
afterAll(() => home[Symbol.dispose]());

const oidOf = (name: string) =>
  git(source, ['rev-parse', `main:${name}`])
    .toString()
    .trim() as Oid;

/** The peak memory of some work, sampled at every turn of the event loop. */
async function heldBy(work: (look: () => void) => Promise<void>): Promise<number> {
  const held = () => {
    collectGarbage();
    return process.memoryUsage().arrayBuffers;
  };
  const before = held();
  let most = 0;
  await work(() => {
    most = Math.max(most, held() - before);
  });
  return most;
}

describe('a pack with large blobs', () => {
  it.each([
    ['as they come', {}, 64 * 1024],
    ['in odd pieces, from the first byte on', { wholeBlobSize: 0 }, 5000],
    ['held, where they may be', { wholeBlobSize: 100 * MB }, 64 * 1024],
  ] as const)('is indexed as git does it: %s', async (_, more, most) => {
    const limits = { memoryPackBytes: MB, ...more };
    const indexed = await indexPack(pieces(pack, generator(3), most), { limits, scratchDir: home.path });
    const file = join(home.path, 'copy.pack');
    writeFileSync(file, pack);
    execFileSync('git', ['index-pack', file]);
    expect(
      Buffer.compare(Buffer.from(indexed.content.index), readFileSync(join(home.path, 'copy.idx'))),
    ).toBe(0);
    await indexed.discard();
  });

  it('takes a fraction of its size in memory', async () => {
    const most = await heldBy(async (look) => {
      const limits = { memoryPackBytes: MB };
      const input = pieces(pack, () => 65_536, 65_536);
      const indexed = await indexPack(input, { limits, scratchDir: home.path, onProgress: look });
      look();
      await indexed.discard();
    });
    expect(most).toBeLessThan(8 * MB);
  });

  it('may be sent twice, and must be the same', async () => {
    const { repository, store } = await stored();
    const again = await indexPack([pack], { store });
    await again.discard();
    // The stored object with the same id is different.
    const noise = oidOf('noise.bin');
    const { objects } = repository;
    const [listed] = await objects.listPacks();
    const [at] = await store.run((o) =>
      o.locate(Buffer.from(noise, 'hex'), 0) ? [o.pack.index.offset(o.position)] : [],
    );
    const bytes = Buffer.from(await objects.open(listed!, 'pack').read(0, listed!.packSize));
    const data = deflateSync(Buffer.alloc(files['noise.bin']!.length), { level: 0 });
    expect(data.length).toBeLessThanOrEqual(bytes.length - at!);
    const head = Buffer.alloc(16);
    const length = writeEntryHeader(head, 0, BLOB, files['noise.bin']!.length);
    bytes.set(head.subarray(0, length), at!);
    bytes.set(data, at! + length);
    const other = new PackStore({
      ...objects,
      open: (one, part) =>
        part === 'index'
          ? objects.open(one, part)
          : { size: bytes.length, read: async (from, count) => bytes.subarray(from, from + count) },
    });
    await expect(indexPack([pack], { store: other })).rejects.toMatchObject({ code: 'collision' });
  });
});

async function stored(): Promise<{ repository: MemoryRepository; store: PackStore }> {
  const repository = new MemoryRepository();
  await addPack(repository, await indexPack([pack]));
  return { repository, store: new PackStore(repository.objects) };
}

describe('a large object', () => {
  it('is read as a stream', async () => {
    const { store } = await stored();
    for (const [name, data] of Object.entries(files)) {
      const { type, size, content } = await streamObject(store, oidOf(name));
      expect([type, size]).toEqual(['blob', data.length]);
      expect(Buffer.compare(await collected(content), data)).toBe(0);
    }
    const { content } = await streamObject(store, oidOf('nothing.bin'));
    const most = await heldBy(async (look) => {
      for await (const _ of content) look();
    });
    // Unused memory may not have been collected yet.
    expect(most).toBeLessThan(24 * MB);
    // A reader may stop early.
    for await (const bytes of (await streamObject(store, oidOf('noise.bin'))).content) {
      expect(bytes.length).toBeGreaterThan(0);
      break;
    }
  });

  it('is read once for its digest and its content', async () => {
    const { repository } = await stored();
    const { objects } = repository;
    let read = 0;
    const store = new PackStore({
      ...objects,
      open: (one, part) => {
        const file = objects.open(one, part);
        const counted = async (from: number, count: number) => {
          read += count;
          return file.read(from, count);
        };
        return { size: file.size, read: counted };
      },
    });
    for (const [name, data] of Object.entries(files)) {
      await store.header(oidOf(name));
      read = 0;
      const { size, sha256, content } = await digestObject(store, oidOf(name));
      expect([size, sha256]).toEqual([data.length, createHash('sha256').update(data).digest('hex')]);
      const before = read;
      expect(Buffer.compare(await collected(content), data), name).toBe(0);
      expect([name, read]).toEqual([name, before]);
      expect(keptBytes()).toBe(0);
    }
  });

  it('is read, and its digest computed, beside other work', async () => {
    const { store } = await stored();
    for (const read of [streamObject, digestObject]) {
      const { content } = await read(store, oidOf('nothing.bin'));
      const stops = await stopsOf(async () => {
        for await (const _ of content);
      });
      // At every second look at the clock.
      expect(stops).toBeGreaterThan(48);
    }
    const stops = await stopsOf(() => digestObject(store, oidOf('nothing.bin')));
    expect(stops).toBeGreaterThan(48);
  });

  it('that is stored as a delta comes in pieces beside other work', async () => {
    const built = new PackBuilder();
    const base = built.blob(Buffer.alloc(MB, 'base'));
    const data = Buffer.alloc(24 * MB, 'base');
    const { oid } = built.delta(
      base,
      Array.from({ length: 24 }, () => [0, MB] as const),
      named('blob', data),
    );
    const repository = new MemoryRepository();
    await addPack(repository, await indexPack([built.pack]));
    const store = new PackStore(repository.objects);
    const { sha256, content } = await digestObject(store, oid as Oid);
    expect(sha256).toBe(createHash('sha256').update(data).digest('hex'));
    const stops = await stopsOf(async () => {
      expect((await collected(content)).equals(data)).toBe(true);
    });
    expect(stops).toBeGreaterThan(24);
  });

  it('is not kept for a reader who stops early, or never begins', async () => {
    const { store } = await stored();
    const unread = await digestObject(store, oidOf('noise.bin'));
    expect(keptBytes()).toBeGreaterThan(8 * MB);
    await unread.content[Symbol.asyncIterator]().return?.();
    expect(keptBytes()).toBe(0);
    for await (const _ of (await digestObject(store, oidOf('noise.bin'))).content) break;
    expect(keptBytes()).toBe(0);
  });

  it('is sent as it is stored', async () => {
    const { store } = await stored();
    const all = revList(source, ['--objects', 'main']).map((line) => line.slice(0, 40) as Oid);
    const some = all.filter((oid) => oid !== oidOf('small.txt'));
    for (const list of [await listObjects(store, all), await listObjects(store, some)]) {
      const sent = await collected(writePack(store, list));
      const target = join(home.path, `target-${list.count}`);
      mkdirSync(target);
      git(target, ['init', '-q', '--bare', '.']);
      git(target, ['unpack-objects', '-q', '--strict', ...(list.count < all.length ? ['-n'] : [])], sent);
    }
  });

  it('is part of archives', async () => {
    const { store } = await stored();
    const made = async (format: ArchiveFormat) =>
      collected((await archive(store, { commit, prefix: 'p', format }))!.read());
    const { entries } = await readZip(await made('zip'));
    for (const [name, data] of Object.entries(files)) {
      expect(Buffer.compare(entries.find((entry) => entry.name === `p/${name}`)!.data, data), name).toBe(0);
    }
    const tar = git(source, ['archive', '--format=tar', '--prefix=p/', 'main']);
    expect(Buffer.compare(await made('tar'), tar)).toBe(0);
  });
});

describe('malformed large blobs are refused', () => {
  const content = randomFillSync(Buffer.alloc(3000));
  const entry = (type: number, data: Uint8Array, size = data.length, distance?: number): Buffer => {
    const head = Buffer.alloc(64);
    let at = writeEntryHeader(head, 0, type, size);
    if (distance !== undefined) at = writeDistance(head, at, distance);
    return Buffer.concat([head.subarray(0, at), deflateSync(data)]);
  };
  const whole = (entries: readonly Buffer[]): Buffer => {
    const header = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1');
    header.writeUInt32BE(entries.length, 8);
    const body = Buffer.concat([header, ...entries]);
    return Buffer.concat([body, createHash('sha1').update(body).digest()]);
  };
  const blob = entry(BLOB, content);
  const flipped = Buffer.from(blob);
  flipped[flipped.length - 1]! ^= 1;
  const delta = Buffer.from([0xb8, 0x17, 0xb9, 0x17, 0xb0, 0xb8, 0x0b, 1, 97]);
  const cases: [string, Buffer, CorruptionCode, Partial<IndexPackLimits>?][] = [
    ['a size too small', whole([entry(BLOB, content, 2999)]), 'object-size'],
    ['a size too large', whole([entry(BLOB, content, 3001)]), 'object-size'],
    ['a wrong checksum', whole([flipped]), 'object-inflate'],
    [
      'no zlib stream',
      whole([Buffer.concat([blob.subarray(0, 2), Buffer.from('nothing of the kind')])]),
      'object-inflate',
    ],
    ['truncated', whole([blob]).subarray(0, 2000), 'pack-truncated'],
    ['truncated at the trailer', whole([blob]).subarray(0, -20), 'pack-truncated'],
    ['bytes behind the end', Buffer.concat([whole([blob]), Buffer.from('x')]), 'pack-trailing'],
    ['a blob above its limit', whole([blob]), 'object-too-large', { maxBlobSize: 2999 }],
    ['more than all may be', whole([blob]), 'limit', { maxInflatedBytes: 2999 }],
    [
      'a delta upon what may not be held',
      whole([blob, entry(OFS_DELTA, delta, delta.length, blob.length)]),
      'object-too-large',
      { maxObjectSize: 2999 },
    ],
    [
      'a delta that makes what may not be held',
      whole([blob, entry(OFS_DELTA, delta, delta.length, blob.length)]),
      'object-too-large',
      { maxObjectSize: 3000 },
    ],
  ];
  it.each(cases)('%s', async (_, bytes, code, limits) => {
    for (const most of [1, 7, 5000]) {
      const options = { limits: { wholeBlobSize: 100, ...limits } };
      await expect(indexPack(pieces(bytes, generator(1), most), options)).rejects.toMatchObject({ code });
    }
  });

  it('valid ones are accepted: a blob above the memory limit, and a delta of one below it', async () => {
    const limits = { wholeBlobSize: 100, maxObjectSize: 3001 };
    const proper = whole([blob, entry(OFS_DELTA, delta, delta.length, blob.length)]);
    for (const most of [1, 7, 5000]) {
      const indexed = await indexPack(pieces(proper, generator(1), most), { limits });
      expect(indexed.objectCount).toBe(2);
    }
    const large = await indexPack([whole([blob])], { limits: { wholeBlobSize: 100, maxObjectSize: 200 } });
    expect(large.objectCount).toBe(1);
  });
});

describe('an object that is held in memory', () => {
  const stored = async () => {
    const repository = new MemoryRepository();
    await addPack(repository, await indexPack([pack], { store: new PackStore(repository.objects) }));
    return repository.objects;
  };

  it('is inflated in turns, and is what git stored', async () => {
    const store = new PackStore(await stored());
    for (const [name, data] of Object.entries(files)) {
      let turns = 0;
      const rests = (): undefined => void turns++;
      const read = await underWatch({ rests }, () => store.read(oidOf(name)));
      expect(Buffer.from(read.data).equals(data), name).toBe(true);
      // 48 MB take more than one turn; the others may take one.
      if (name === 'nothing.bin') expect(turns).toBeGreaterThan(0);
    }
  });

  it.each([
    ['is shorter than its header says', 'object-size', (size: number) => size + 1],
    ['is longer than its header says', 'object-size', (size: number) => size - 1],
    ['is damaged', 'object-inflate', (size: number) => size],
  ])('is refused when it %s', async (_, code, stated) => {
    const objects = await stored();
    const [description] = await objects.listPacks();
    const file = objects.open(description!, 'pack');
    const bytes = Buffer.from(await file.read(0, file.size));
    const at = await new PackStore(objects).run((read) => {
      expect(read.locate(Buffer.from(oidOf('noise.bin'), 'hex'), 0)).toBe(true);
      return read.offset;
    });
    const size = files['noise.bin']!.length;
    const length = writeEntryHeader(bytes, at, BLOB, stated(size));
    if (stated(size) === size) bytes[at + length + 4 * MB]! ^= 1;
    const damaged = new PackStore({
      ...objects,
      listPacks: (options) => objects.listPacks(options),
      open: (one, part) =>
        part === 'index'
          ? objects.open(one, part)
          : { size: bytes.length, read: async (from, count) => bytes.subarray(from, from + count) },
    });
    await expect(damaged.read(oidOf('noise.bin'))).rejects.toMatchObject({ code });
  });

  it('is made of large deltas in turns, on its way in and when it is read', async () => {
    const built = new PackBuilder();
    const base = built.blob('xy');
    const own = randomFillSync(Buffer.alloc(3 * MB));
    const parts = [1, 2, 0].map((n) => [n * MB, MB] as const);
    const turned = Buffer.concat(parts.map(([from, size]) => own.subarray(from, from + size)));
    const longer = Buffer.concat([turned, Buffer.from('end')]);
    const data = [own, turned, longer];
    // Each is made of the one before.
    const first = built.delta(base, [own], named('blob', own));
    const second = built.delta(first, parts, named('blob', turned));
    const third = built.delta(second, [[0, 3 * MB], Buffer.from('end')], named('blob', longer));
    const repository = new MemoryRepository();
    const received = await stopsOf(async () => addPack(repository, await indexPack([built.pack])));
    expect(received).toBeGreaterThan(40);
    const store = new PackStore(repository.objects);
    const oids = [first, second, third].map(({ oid }) => oid as Oid);
    const stops = await stopsOf(async () => {
      const read = await store.run((objects) => oids.map((oid) => objects.read(oid).data));
      expect(read.map((one, i) => data[i]!.equals(one))).toEqual([true, true, true]);
    });
    expect(stops).toBeGreaterThan(40);
    const alone = await new PackStore(repository.objects).read(oids[2]!);
    expect(data[2]!.equals(alone.data)).toBe(true);
  });

  it('and is made of large deltas is read though its pack is superseded and deleted meanwhile', async () => {
    const built = new PackBuilder();
    const [own, other] = [randomFillSync(Buffer.alloc(3 * MB)), randomFillSync(Buffer.alloc(3 * MB))];
    const first = built.delta(built.blob('xy'), [own], named('blob', own));
    const second = built.delta(first, [other], named('blob', other));
    const [old, current] = [new MemoryRepository(), new MemoryRepository()];
    for (const repository of [old, current]) await addPack(repository, await indexPack([built.pack]));
    const [{ id }] = (await old.objects.listPacks()) as [PackDescription];
    let superseded = false;
    const database: ObjectDatabase = {
      ...old.objects,
      listPacks: () => (superseded ? current : old).objects.listPacks(),
      open: (pack, part) => {
        if (pack.id !== id) return current.objects.open(pack, part);
        const file = old.objects.open(pack, part);
        return {
          size: file.size,
          read: async (offset, length) => {
            // What the second delta is has not been read yet.
            superseded ||= part === 'pack' && offset > second.offset + MB && offset + length < file.size;
            if (superseded) throw new Error('no such pack');
            return file.read(offset, length);
          },
        };
      },
    };
    const { data } = await new PackStore(database).read(second.oid as Oid);
    expect(superseded).toBe(true);
    expect(other.equals(data)).toBe(true);
  });
});

import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CorruptData, type CorruptionCode } from '../../lib/git/corrupt-data.ts';
import { type Oid, oidBytes } from '../../lib/git/oid.ts';
import { BLOB, OFS_DELTA, REF_DELTA, writeDistance, writeEntryHeader } from '../../lib/git/pack/entry.ts';
import { FsckRefused, type IndexPackLimits, indexPack } from '../../lib/git/pack/index-pack.ts';
import { hashObject } from '../../lib/git/parse.ts';
import { buildPack } from '../harness/build-pack.ts';
import { stopsOf } from '../unit/git/stops.ts';
import {
  generator,
  makeHistory,
  packObjects,
  pieces,
  revList,
  revParse,
  scratch,
  storeOf,
} from './pack-fixture.ts';
import { git } from './repository-files.ts';

const home = scratch();
const history = join(home.path, 'history.git');
beforeAll(() => makeHistory(history));
afterAll(() => home[Symbol.dispose]());

/** git's index of a pack. */
function gitIndex(pack: Uint8Array, options: readonly string[] = []): Buffer {
  using dir = scratch();
  git(tmpdir(), ['init', '-q', '--bare', dir.path]);
  writeFileSync(join(dir.path, 'p.pack'), pack);
  git(dir.path, ['index-pack', ...options, 'p.pack']);
  return readFileSync(join(dir.path, 'p.idx'));
}

describe('the index is byte for byte that of git', () => {
  const cases: [string, string[], Partial<IndexPackLimits>][] = [
    ['bases by distance', [], {}],
    ['bases by id', ['--no-delta-base-offset'], {}],
    ['no deltas', ['--window=0'], {}],
    ['long chains', ['--window=250', '--depth=4000'], {}],
    ['spooled to a file', [], { memoryPackBytes: 1000 }],
    ['spooled, bases by id', ['--no-delta-base-offset'], { memoryPackBytes: 1000 }],
    [
      'hardly any memory for bases',
      ['--window=250', '--depth=4000'],
      { memoryBytes: 1000, memoryPackBytes: 50_000 },
    ],
  ];
  it.each(cases)('%s', async (_name, options, limits) => {
    const pack = packObjects(history, ['--all'], options);
    const sizes = generator(7);
    const indexed = await indexPack(pieces(pack, sizes), { limits, scratchDir: home.path });
    expect(Buffer.compare(Buffer.from(indexed.content.index), gitIndex(pack))).toBe(0);
    expect(indexed.checksum).toBe(pack.subarray(-20).toString('hex'));
    expect(indexed.content.kind).toBe(limits.memoryPackBytes ? 'file' : 'bytes');
    expect([...indexed.oids()].sort()).toEqual(revList(history, ['--all']));
    expect(indexed.type(revParse(history, 'main'))).toBe('commit');
    expect(indexed.type(revParse(history, 'v1'))).toBe('tag');
    expect(indexed.type('0'.repeat(40) as Oid)).toBeUndefined();
    await indexed.discard();
    expect(readdirSync(home.path).filter((name) => name.startsWith('incoming'))).toEqual([]);
  });

  it('an empty pack', async () => {
    const pack = packObjects(history, ['main', '^main']);
    const indexed = await indexPack([pack]);
    expect(indexed.objectCount).toBe(0);
    expect(Buffer.compare(Buffer.from(indexed.content.index), gitIndex(pack))).toBe(0);
  });

  it('an object larger than a window, fed in small pieces', async () => {
    const noise = Buffer.alloc(3_000_000);
    const random = generator(3);
    for (let i = 0; i < noise.length; i++) noise[i] = random(256);
    const { content } = buildPack([
      { type: 'blob', data: noise },
      { type: 'blob', data: Buffer.alloc(5_000_000) },
    ]);
    if (content.kind !== 'bytes') throw new Error('expected bytes');
    const indexed = await indexPack(pieces(content.pack, random, 100_000), {
      limits: { memoryPackBytes: 1 << 20 },
    });
    expect(Buffer.compare(Buffer.from(indexed.content.index), gitIndex(content.pack))).toBe(0);
    await indexed.discard();
  });
});

describe('a thin pack', () => {
  it.each([
    ['memory', {}],
    ['file', { memoryPackBytes: 100 }],
  ] as const)('is completed, in %s', async (_where, limits) => {
    const old = packObjects(history, ['main~5']);
    const thin = packObjects(history, ['main', '^main~5'], ['--thin']);
    const { store } = await storeOf(old);
    const indexed = await indexPack([thin], { store, limits });
    expect(indexed.basesAdded.length).toBeGreaterThan(0);
    const { content } = indexed;
    const pack = content.kind === 'bytes' ? content.pack : readFileSync(content.packPath);
    expect(Buffer.compare(Buffer.from(content.index), gitIndex(pack))).toBe(0);
    for (const oid of revList(history, ['main', '^main~5'])) expect(indexed.type(oid as Oid)).toBeDefined();
    await indexed.discard();
  });

  it.each([
    ['memory', {}],
    ['file', { memoryPackBytes: 100 }],
  ] as const)('is completed with a large base beside other work, in %s', async (_where, limits) => {
    const base = randomBytes(8 * 2 ** 20);
    const { content } = buildPack([{ type: 'blob', data: base }]);
    if (content.kind !== 'bytes') throw new Error('expected bytes');
    const { store } = await storeOf(content.pack);
    // The base has 2 ** 23 bytes, and what is made of it has two, which are in the delta.
    const delta = Buffer.from([128, 128, 128, 4, 2, 2, 0x68, 0x69]);
    const head = Buffer.alloc(16);
    const entry = Buffer.concat([
      head.subarray(0, writeEntryHeader(head, 0, REF_DELTA, delta.length)),
      oidBytes(hashObject('blob', base)),
      deflateSync(delta),
    ]);
    const stops = await stopsOf(async () => {
      const indexed = await indexPack([rawPack([entry])], { store, limits });
      expect(indexed.type(hashObject('blob', Buffer.from('hi')))).toBe('blob');
      expect(indexed.basesAdded).toEqual([hashObject('blob', base)]);
      await indexed.discard();
    });
    // Eight pieces are written, and digested.
    expect(stops).toBeGreaterThanOrEqual(16);
  });

  it('is refused without its bases', async () => {
    const thin = packObjects(history, ['main', '^main~5'], ['--thin']);
    await expect(indexPack([thin])).rejects.toMatchObject({ code: 'delta-base' });
    const { store } = await storeOf();
    await expect(indexPack([thin], { store })).rejects.toMatchObject({ code: 'delta-base' });
  });

  it('takes bases from garbage packs too, and reports which', async () => {
    const thin = packObjects(history, ['main', '^main~5'], ['--thin']);
    const { store, repository } = await storeOf(packObjects(history, ['main~5']));
    repository.relist((packs) => packs.map((pack) => ({ ...pack, source: 'unreachable-garbage' })));
    await store.refresh();
    const indexed = await indexPack([thin], { store });
    expect(indexed.basesAdded.length).toBeGreaterThan(0);
    expect(await store.missing(Buffer.from(indexed.basesAdded.join(''), 'hex'), { garbage: false })).toEqual(
      indexed.basesAdded,
    );
    for (const oid of indexed.basesAdded) expect(indexed.type(oid)).toBeDefined();
  });
});

/** A pack of raw entries with a proper header and trailer. */
function rawPack(entries: readonly Uint8Array[], count = entries.length): Buffer {
  const header = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1');
  header.writeUInt32BE(count, 8);
  const body = Buffer.concat([header, ...entries]);
  return Buffer.concat([body, createHash('sha1').update(body).digest()]);
}

function entry(
  type: number,
  data: Uint8Array,
  options: { size?: number; base?: Oid; distance?: number } = {},
): Buffer {
  const head = Buffer.alloc(64);
  let at = writeEntryHeader(head, 0, type, options.size ?? data.length);
  if (options.base) {
    head.set(oidBytes(options.base), at);
    at += 20;
  }
  if (options.distance !== undefined) at = writeDistance(head, at, options.distance);
  return Buffer.concat([head.subarray(0, at), deflateSync(data)]);
}

const hello = Buffer.from('hello, world');
const helloOid = hashObject('blob', hello);
/** Copies all 12 bytes and adds one. */
const grow = (add: string) => Buffer.from([12, 13, 0x90, 12, 1, add.charCodeAt(0)]);
const repeatDelta = (base: number, result: number, instruction: number[]) => {
  const varint = (n: number): number[] => (n < 128 ? [n] : [(n & 127) | 128, ...varint(Math.floor(n / 128))]);
  const copies = Math.ceil(result / 0x10000);
  return Buffer.from([
    ...varint(base),
    ...varint(result),
    ...Array.from({ length: copies }, () => instruction).flat(),
  ]);
};

describe('malformed packs are refused', () => {
  const good = rawPack([entry(BLOB, hello)]);
  const flip = (bytes: Buffer, at: number) => {
    const copy = Buffer.from(bytes);
    copy[at < 0 ? copy.length + at : at]! ^= 0xff;
    return copy;
  };
  const blobEntry = entry(BLOB, hello);
  const zeros = Buffer.alloc(0x10000);
  const cases: [string, Buffer, CorruptionCode, Partial<IndexPackLimits>?][] = [
    ['nothing', Buffer.alloc(0), 'pack-truncated'],
    ['another magic', flip(good, 0), 'pack-header'],
    ['another version', flip(good, 7), 'pack-header'],
    ['a wrong checksum', flip(good, -1), 'pack-checksum'],
    ['bytes behind the trailer', Buffer.concat([good, Buffer.from('x')]), 'pack-trailing'],
    ['cut in the trailer', good.subarray(0, -1), 'pack-truncated'],
    ['cut in an entry', good.subarray(0, 16), 'pack-truncated'],
    ['fewer objects than it says', rawPack([blobEntry], 2), 'object-inflate'],
    ['more objects than it says', rawPack([blobEntry, entry(BLOB, Buffer.from('b'))], 1), 'pack-trailing'],
    ['entry type 0', rawPack([entry(0, hello)]), 'pack-entry'],
    ['entry type 5', rawPack([entry(5, hello)]), 'pack-entry'],
    ['an endless size', rawPack([Buffer.alloc(40, 0xff)]), 'pack-entry'],
    ['damaged zlib data', rawPack([Buffer.from([0x3c, 1, 2, 3, 4])]), 'object-inflate'],
    ['a size too small', rawPack([entry(BLOB, hello, { size: 5 })]), 'object-size'],
    ['a size too large', rawPack([entry(BLOB, hello, { size: 50 })]), 'object-size'],
    ['an object twice', rawPack([blobEntry, blobEntry]), 'pack-entry'],
    ['a base before the pack', rawPack([entry(OFS_DELTA, grow('a'), { distance: 500 })]), 'delta-base'],
    [
      'a base between entries',
      rawPack([blobEntry, entry(OFS_DELTA, grow('a'), { distance: 3 })]),
      'delta-base',
    ],
    ['an unknown base', rawPack([entry(REF_DELTA, grow('a'), { base: helloOid })]), 'delta-base'],
    [
      'a delta for another base',
      rawPack([
        entry(BLOB, Buffer.from('short')),
        entry(REF_DELTA, grow('a'), { base: hashObject('blob', Buffer.from('short')) }),
      ]),
      'delta-malformed',
    ],
    [
      'a delta that copies past the base',
      rawPack([blobEntry, entry(REF_DELTA, Buffer.from([12, 20, 0x90, 20]), { base: helloOid })]),
      'delta-malformed',
    ],
    [
      'a delta that makes too little',
      rawPack([blobEntry, entry(REF_DELTA, Buffer.from([12, 20, 0x90, 12]), { base: helloOid })]),
      'delta-malformed',
    ],
    [
      'a delta with a reserved instruction',
      rawPack([blobEntry, entry(REF_DELTA, Buffer.from([12, 1, 0]), { base: helloOid })]),
      'delta-malformed',
    ],
    [
      'an empty delta',
      rawPack([blobEntry, entry(REF_DELTA, Buffer.alloc(0), { base: helloOid })]),
      'delta-malformed',
    ],
    ['more objects than allowed', good, 'limit', { maxObjects: 0 }],
    ['more bytes than allowed', good, 'limit', { maxBytes: 20 }],
    ['an object larger than allowed', good, 'object-too-large', { maxObjectSize: 11 }],
    [
      'a delta’s object larger than allowed',
      rawPack([blobEntry, entry(REF_DELTA, grow('a'), { base: helloOid })]),
      'object-too-large',
      { maxObjectSize: 12 },
    ],
    [
      'a chain longer than allowed',
      rawPack([
        blobEntry,
        entry(REF_DELTA, grow('a'), { base: helloOid }),
        entry(REF_DELTA, Buffer.from([13, 14, 0x90, 13, 1, 98]), {
          base: hashObject('blob', Buffer.from('hello, worlda')),
        }),
      ]),
      'delta-too-deep',
      { maxDeltaDepth: 1 },
    ],
    [
      'an inflation bomb',
      rawPack([
        entry(BLOB, zeros),
        entry(REF_DELTA, repeatDelta(0x10000, 0x10000 * 1000, [0x80]), { base: hashObject('blob', zeros) }),
      ]),
      'limit',
      { maxInflatedBytes: 10_000_000 },
    ],
  ];
  it.each(cases)('%s', async (_name, pack, code, limits) => {
    const refused = await indexPack(pieces(pack, generator(1), 7), { limits: limits ?? {} }).catch(
      (error) => error,
    );
    expect(refused).toBeInstanceOf(CorruptData);
    expect(refused.code).toBe(code);
  });

  it('two deltas that are each other’s base', async () => {
    const one = 'a'.repeat(40) as Oid;
    const two = 'b'.repeat(40) as Oid;
    const pack = rawPack([
      entry(REF_DELTA, grow('a'), { base: one }),
      entry(REF_DELTA, grow('b'), { base: two }),
    ]);
    await expect(indexPack([pack])).rejects.toMatchObject({ code: 'delta-base' });
  });

  it('an object that differs from the stored one with the same id', async () => {
    const { content, objectCount } = buildPack([
      { type: 'blob', data: Buffer.from('other bytes'), oid: helloOid },
    ]);
    const { repository, store } = await storeOf();
    const stored = await repository.objects.newPack(content, { source: 'receive', objectCount });
    await repository.refs.compareAndSwap([], { packs: [stored] });
    await store.refresh();
    await expect(indexPack([good], { store })).rejects.toMatchObject({ code: 'collision' });
    const same = await storeOf(good);
    await expect(indexPack([good], { store: same.store })).resolves.toMatchObject({ objectCount: 1 });
  });

  it('leaves no scratch file behind', async () => {
    const dir = join(home.path, 'left');
    mkdirSync(dir);
    const pack = packObjects(history, ['--all']);
    const damaged = flip(pack, -1);
    await expect(indexPack([damaged], { scratchDir: dir, limits: { memoryPackBytes: 10 } })).rejects.toThrow(
      CorruptData,
    );
    const failing = (async function* () {
      yield pack.subarray(0, 5000);
      throw new Error('connection lost');
    })();
    await expect(indexPack(failing, { scratchDir: dir, limits: { memoryPackBytes: 10 } })).rejects.toThrow(
      'connection lost',
    );
    expect(existsSync(dir) && readdirSync(dir)).toEqual([]);
  });
});

describe('damage', () => {
  it('anywhere in a pack is detected, with a corrected checksum or not; git accepts what passes', async () => {
    const pack = packObjects(history, ['main~12'], ['--no-delta-base-offset']);
    const random = generator(99);
    let accepted = 0;
    for (let round = 0; round < 400; round++) {
      const damaged: Buffer = Buffer.from(pack);
      for (let hits = random(3); hits >= 0; hits--) damaged[12 + random(pack.length - 32)] = random(256);
      if (damaged.equals(pack)) continue;
      await expect(indexPack([damaged])).rejects.toThrow(CorruptData);
      const body = damaged.subarray(0, -20);
      const mended = Buffer.concat([body, createHash('sha1').update(body).digest()]);
      try {
        await indexPack(pieces(mended, random, 500));
        accepted++;
        gitIndex(mended, ['--strict']);
      } catch (error) {
        expect(error).toBeInstanceOf(CorruptData);
      }
    }
    expect(accepted).toBeLessThan(40);
  });
});

describe('fsck', () => {
  it('refuses a pack with a malformed object, naming object and reason', async () => {
    const bad = Buffer.concat([Buffer.from('100644 .git\0'), oidBytes(helloOid)]);
    const { content } = buildPack([
      { type: 'blob', data: hello },
      { type: 'tree', data: bad },
    ]);
    if (content.kind !== 'bytes') throw new Error('expected bytes');
    const refused: FsckRefused = await indexPack([content.pack]).catch((error) => error);
    expect(refused).toBeInstanceOf(FsckRefused);
    expect(refused.findings).toEqual([
      { oid: hashObject('tree', bad), id: 'hasDotgit', message: "contains '.git'" },
    ]);
    await expect(indexPack([content.pack], { fsck: false })).resolves.toMatchObject({ objectCount: 2 });
    await expect(
      indexPack([content.pack], { fsck: { levels: { hasDotgit: 'warn' } } }),
    ).resolves.toMatchObject({
      warnings: [{ id: 'hasDotgit' }],
    });
  });

  it('checks .gitmodules that was stored under another name', async () => {
    const blob = Buffer.from('[submodule "a"]\n\tpath = a\n\turl = --upload-pack=touch\n');
    const { content } = buildPack([{ type: 'blob', data: blob }]);
    if (content.kind !== 'bytes') throw new Error('expected bytes');
    const { store } = await storeOf(content.pack);
    const tree = Buffer.concat([Buffer.from('100644 .gitmodules\0'), oidBytes(hashObject('blob', blob))]);
    const pushed = buildPack([{ type: 'tree', data: tree }]).content;
    if (pushed.kind !== 'bytes') throw new Error('expected bytes');
    const refused: FsckRefused = await indexPack([pushed.pack], { store }).catch((error) => error);
    expect(refused.findings).toMatchObject([{ oid: hashObject('blob', blob), id: 'gitmodulesUrl' }]);
    // What is stored nowhere is for the check of connectivity.
    const { store: empty } = await storeOf();
    await expect(indexPack([pushed.pack], { store: empty })).resolves.toMatchObject({ objectCount: 1 });
  });

  it('checks .gitmodules, wherever in the pack the blob is', async () => {
    const blob = Buffer.from('[submodule "a"]\n\tpath = a\n\turl = --upload-pack=touch\n');
    const tree = Buffer.concat([Buffer.from('100644 .gitmodules\0'), oidBytes(hashObject('blob', blob))]);
    for (const objects of [
      [{ type: 'blob', data: blob } as const, { type: 'tree', data: tree } as const],
      [{ type: 'tree', data: tree } as const, { type: 'blob', data: blob } as const],
    ]) {
      const { content } = buildPack(objects);
      if (content.kind !== 'bytes') throw new Error('expected bytes');
      await expect(indexPack([content.pack])).rejects.toMatchObject({ findings: [{ id: 'gitmodulesUrl' }] });
    }
  });
});

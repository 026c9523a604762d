import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CorruptData } from '../../lib/git/corrupt-data.ts';
import { ObjectMissing, type ObjectType } from '../../lib/git/objects.ts';
import { EMPTY_TREE, type Oid, oidBytes } from '../../lib/git/oid.ts';
import { PackCache } from '../../lib/git/pack/pack-cache.ts';
import { PackStore } from '../../lib/git/pack/store.ts';
import { hashObject } from '../../lib/git/parse.ts';
import type { ObjectDatabase, PackDescription } from '../../lib/git/ports.ts';
import { buildPack } from '../harness/build-pack.ts';
import { generator, makeHistory, packObjects, revList, revParse, scratch, storeOf } from './pack-fixture.ts';
import { git, packsOf } from './repository-files.ts';

const home = scratch();
const history = join(home.path, 'history.git');
let expected: Map<Oid, { type: ObjectType; data: Buffer }>;

beforeAll(() => {
  makeHistory(history);
  git(history, ['repack', '-adfq', '--window=50', '--depth=200']);
  expected = catFile(history, revList(history, ['--all']));
});
afterAll(() => home[Symbol.dispose]());

/** The objects as read by git. */
function catFile(repository: string, oids: readonly string[]): Map<Oid, { type: ObjectType; data: Buffer }> {
  const out = git(repository, ['cat-file', '--batch'], `${oids.join('\n')}\n`);
  const objects = new Map<Oid, { type: ObjectType; data: Buffer }>();
  for (let at = 0; at < out.length; ) {
    const end = out.indexOf(10, at);
    const [oid, type, size] = out.toString('latin1', at, end).split(' ');
    const data = out.subarray(end + 1, end + 1 + Number(size));
    objects.set(oid as Oid, { type: type as ObjectType, data });
    at = end + 2 + Number(size);
  }
  return objects;
}

async function expectSame(store: PackStore): Promise<void> {
  for (const [oid, { type, data }] of expected) {
    expect(await store.header(oid)).toEqual({ type, size: data.length });
    const read = await store.read(oid);
    expect(read.type).toBe(type);
    expect(Buffer.compare(read.data, data)).toBe(0);
  }
}

describe('every object is the same as in git', () => {
  it('from the pack of a repository', () => expectSame(new PackStore(packsOf(history))));

  it('with a minimal cache', () =>
    expectSame(
      new PackStore(packsOf(history), {
        cache: new PackCache({ blockBytes: 1, baseBytes: 1, indexBytes: 1 }),
      }),
    ));

  it('from many packs, bases by id', async () => {
    const cuts = ['main~25', 'main~20', 'main~9', 'main~3'].map((name) => revParse(history, name));
    const packs = cuts.map((cut, i) =>
      packObjects(history, [cut, ...cuts.slice(0, i).map((old) => `^${old}`)], ['--no-delta-base-offset']),
    );
    packs.push(packObjects(history, ['--all', ...cuts.map((old) => `^${old}`)]));
    const { store } = await storeOf(...packs);
    expect((await store.packs()).length).toBe(packs.length);
    await expectSame(store);
  });

  it('through thousands of lookups, after which the index is hashed', async () => {
    const store = new PackStore(packsOf(history));
    const oids = [...expected.keys()];
    for (let round = 0; round < 6000 / oids.length + 1; round++) {
      await store.run((objects) => {
        for (const oid of oids) if (!objects.has(oid)) throw new Error(`${oid} not found`);
      });
    }
    await expectSame(store);
    expect(await store.has('12'.repeat(20) as Oid)).toBe(false);
  });
});

describe('lookups', () => {
  it('by prefix give the same ids as git', async () => {
    const store = new PackStore(packsOf(history));
    const oids = [...expected.keys()].sort();
    for (const prefix of [
      ...oids.slice(0, 40).map((oid) => oid.slice(0, 4)),
      '0000',
      'ffff',
      oids[7]!.slice(0, 9),
      oids[3]!,
    ]) {
      expect(await store.resolvePrefix(prefix, 100)).toEqual(oids.filter((oid) => oid.startsWith(prefix)));
    }
    expect(await store.resolvePrefix('abc', 10)).toEqual([]);
    expect(await store.resolvePrefix('ABCD', 10)).toEqual([]);
  });

  it('find the empty tree even if no pack has it', async () => {
    const { store } = await storeOf();
    expect(await store.has(EMPTY_TREE)).toBe(true);
    expect(await store.read(EMPTY_TREE)).toEqual({ type: 'tree', data: new Uint8Array(0) });
  });

  it('of missing objects throw, after reading the listing once more', async () => {
    const { repository, store } = await storeOf(packObjects(history, ['main~10']));
    const oid = revParse(history, 'main');
    await expect(store.read(oid)).rejects.toThrow(ObjectMissing);
    expect(await store.missing(oidBytes(oid))).toEqual([oid]);
    const late = buildPack([{ type: 'commit', data: expected.get(oid)!.data }]);
    const stored = await repository.objects.newPack(late.content, { source: 'receive', objectCount: 1 });
    await repository.refs.compareAndSwap([], { packs: [stored] });
    expect((await store.read(oid)).type).toBe('commit');
  });

  it('can exclude garbage', async () => {
    const { repository, store } = await storeOf(packObjects(history, ['main']));
    const oid = revParse(history, 'main');
    repository.relist((packs) => packs.map((pack) => ({ ...pack, source: 'unreachable-garbage' })));
    await store.refresh();
    expect(await store.missing(oidBytes(oid))).toEqual([]);
    expect(await store.missing(oidBytes(oid), { garbage: false })).toEqual([oid]);
    expect((await store.read(oid)).type).toBe('commit');
  });

  it('survive that a pack was replaced and deleted', async () => {
    const { repository, store } = await storeOf(packObjects(history, ['main']));
    const [old] = await repository.objects.listPacks();
    const copy = await storeOf(packObjects(history, ['main']));
    const [fresh] = await copy.repository.objects.listPacks();
    const { objects } = repository;
    const database: ObjectDatabase = {
      ...objects,
      listPacks: async (options) => [options?.fresh ? fresh! : old!],
      open: (pack, part) => {
        if (pack.id === old!.id) return { size: 0, read: async () => Promise.reject(new Error('NoSuchKey')) };
        return copy.repository.objects.open(pack, part);
      },
    };
    const moved = new PackStore(database);
    expect((await moved.read(revParse(history, 'main'))).type).toBe('commit');
    expect(await store.has(revParse(history, 'main'))).toBe(true);
  });

  it('in packs of one commit each take one round trip for all packs', async () => {
    const commits = git(history, ['rev-list', '--topo-order', '--max-count=12', 'main'])
      .toString()
      .trim()
      .split('\n');
    const packs = commits.map((oid) => packObjects(history, [oid, `^${oid}^@`]));
    const { repository } = await storeOf(packObjects(history, ['--all']), ...packs.slice(0, 8));
    repository.relist((listed) => listed.slice(0, 8));
    const { objects } = repository;
    let running = 0;
    let trips = 0;
    const store = new PackStore({
      ...objects,
      open: (pack, part) => {
        const access = objects.open(pack, part);
        return {
          size: access.size,
          read: async (offset, length) => {
            if (running++ === 0) trips++;
            await new Promise(setImmediate);
            running--;
            return access.read(offset, length);
          },
        };
      },
    });
    for (const oid of commits.slice(0, 8)) expect((await store.read(oid as Oid)).type).toBe('commit');
    // The indexes, together with the packs, which are small.
    expect(trips).toBe(1);
  });

  it('read each block once for concurrent readers', async () => {
    const base = packsOf(history);
    const reads = new Map<string, number>();
    const counted: ObjectDatabase = {
      ...base,
      open: (pack, part) => {
        const file = base.open(pack, part);
        return {
          size: file.size,
          read: (offset, length) => {
            const key = `${part} ${offset}`;
            reads.set(key, (reads.get(key) ?? 0) + 1);
            return file.read(offset, length);
          },
        };
      },
    };
    const store = new PackStore(counted);
    await Promise.all([...expected.keys()].map((oid) => store.read(oid)));
    expect([...reads.values()].every((count) => count === 1)).toBe(true);
  });
});

describe('damage in stored packs', () => {
  it('in pack or index gives CorruptData or ObjectMissing, or an object of another id: no crash, no hang', async () => {
    const pack = packObjects(history, ['main~10'], ['--no-delta-base-offset']);
    const { repository } = await storeOf(pack);
    const [description] = await repository.objects.listPacks();
    const oids = revList(history, ['main~10']) as Oid[];
    const whole = {
      pack: Buffer.from(await repository.objects.open(description!, 'pack').read(0, description!.packSize)),
      index: Buffer.from(
        await repository.objects.open(description!, 'index').read(0, description!.indexSize),
      ),
    };
    const random = generator(5);
    let noticed = 0;
    for (let round = 0; round < 150; round++) {
      const part = round % 2 ? 'pack' : 'index';
      const damaged = { ...whole, [part]: Buffer.from(whole[part]) };
      for (let hits = 0; hits < 4; hits++) damaged[part][random(damaged[part].length)] = random(256);
      if (round % 10 < 2) damaged[part] = damaged[part].subarray(0, random(damaged[part].length));
      const store = new PackStore(fixed(description!, damaged));
      for (let i = 0; i < 12; i++) {
        const oid = oids[random(oids.length)]!;
        try {
          await store.header(oid);
          const { type, data } = await store.read(oid);
          if (hashObject(type, data) !== oid) noticed++;
        } catch (error) {
          noticed++;
          if (!(error instanceof CorruptData) && !(error instanceof ObjectMissing)) throw error;
        }
      }
    }
    expect(noticed).toBeGreaterThan(100);
  });

  it('circular delta bases give CorruptData', async () => {
    const blob = Buffer.from('x'.repeat(50));
    const { content } = buildPack([{ type: 'blob', data: blob }]);
    if (content.kind !== 'bytes') throw new Error('expected bytes');
    const pack = Buffer.from(content.pack);
    // An object with its own id as delta base: only possible in a damaged store.
    const forged = Buffer.concat([
      pack.subarray(0, 12),
      Buffer.from([0x75]),
      oidBytes(hashObject('blob', blob)),
      pack.subarray(14),
    ]);
    const { repository } = await storeOf(pack);
    const [listed] = await repository.objects.listPacks();
    const description = { ...listed!, packSize: forged.length };
    const store = new PackStore(fixed(description, { pack: forged, index: Buffer.from(content.index) }));
    await expect(store.read(hashObject('blob', blob))).rejects.toMatchObject({ code: 'delta-too-deep' });
    await expect(store.header(hashObject('blob', blob))).rejects.toThrow(CorruptData);
  });
});

function fixed(description: PackDescription, parts: { pack: Buffer; index: Buffer }): ObjectDatabase {
  return {
    listPacks: async () => [description],
    open: (_pack, part) => ({
      size: parts[part].length,
      read: async (at, length) => parts[part].subarray(at, at + length),
    }),
    newPack: async () => Promise.reject(new Error('read only')),
    rollbackPack: async () => {},
  };
}

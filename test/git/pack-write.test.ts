import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CorruptData } from '../../lib/git/corrupt-data.ts';
import { ObjectMissing } from '../../lib/git/objects.ts';
import { EMPTY_TREE, type Oid } from '../../lib/git/oid.ts';
import { indexPack } from '../../lib/git/pack/index-pack.ts';
import { listObjects } from '../../lib/git/pack/object-list.ts';
import { PackStore } from '../../lib/git/pack/store.ts';
import { type WritePackOptions, writePack } from '../../lib/git/pack/write.ts';
import { type EnumerateOptions, enumerate } from '../../lib/git/reachable.ts';
import { parseFilter } from '../../lib/git/wire/filter-spec.ts';
import {
  addPack,
  collect,
  generator,
  makeHistory,
  packObjects,
  revList,
  revParse,
  scratch,
  storeOf,
} from './pack-fixture.ts';
import { git, packsOf } from './repository-files.ts';

const home = scratch();
const history = join(home.path, 'history.git');
const rev = (name: string) => revParse(history, name);
let tips: Oid[];
/** One pack; several, overlapping; bases by id; the history compacted with a little on top. */
let stores: [string, PackStore][];

beforeAll(async () => {
  makeHistory(history);
  git(history, ['repack', '-adfq', '--window=50']);
  tips = git(history, ['for-each-ref', '--format=%(objectname)']).toString().trim().split('\n') as Oid[];
  const cuts = ['main~25', 'main~12', 'main~3'].map(rev);
  const parts = cuts.map((cut, i) =>
    packObjects(history, [cut, ...cuts.slice(0, i).map((old) => `^${old}`)]),
  );
  const rest = packObjects(history, ['--all', ...cuts.map((old) => `^${old}`)]);
  stores = [
    ['one pack', new PackStore(packsOf(history))],
    ['four packs', (await storeOf(...parts, rest)).store],
    [
      'overlapping packs',
      (
        await storeOf(
          packObjects(history, ['main']),
          packObjects(history, ['topic/one'], ['--window=100']),
          packObjects(history, ['--all']),
        )
      ).store,
    ],
    ['bases by id', (await storeOf(packObjects(history, ['--all'], ['--no-delta-base-offset']))).store],
  ];
});
afterAll(() => home[Symbol.dispose]());

const each = (work: (store: PackStore) => Promise<void>) => async () => {
  for (const [, store] of stores) await work(store);
};

describe('enumerate lists the same objects as git rev-list --objects', () => {
  async function expectSame(
    store: PackStore,
    options: EnumerateOptions,
    args: readonly string[],
  ): Promise<void> {
    const list = await enumerate(store, options);
    expect([...list.oids()].sort()).toEqual(revList(history, args));
    for (let i = 0; i < list.count; i += 17)
      expect(list.type(i)).toBe((await store.header(list.oid(i))).type);
  }

  it(
    'for everything',
    each((store) => expectSame(store, { include: tips }, ['--all'])),
  );

  it(
    'for one commit against another',
    each(async (store) => {
      const random = generator(11);
      const commits = git(history, ['rev-list', '--all']).toString().trim().split('\n') as Oid[];
      for (let round = 0; round < 25; round++) {
        const pick = () => commits[random(commits.length)]!;
        const include = [pick(), pick()];
        const exclude = Array.from({ length: random(4) }, pick);
        await expectSame(store, { include, exclude }, [...include, ...exclude.map((oid) => `^${oid}`)]);
      }
    }),
  );

  it(
    'for tags, trees and blobs',
    each(async (store) => {
      for (const name of ['v1', 'v1-again', 'tree-tag', 'blob-tag', 'main^{tree}', 'main:big.txt', 'empty']) {
        await expectSame(store, { include: [rev(name)] }, [name]);
      }
      await expectSame(store, { include: [rev('v1-again')], exclude: [rev('v1')] }, ['v1-again', '^v1']);
    }),
  );

  it.each([
    'blob:none',
    'blob:limit=0',
    'blob:limit=200',
    'tree:0',
    'tree:1',
    'tree:2',
    'tree:3',
    'object:type=blob',
    'object:type=tree',
    'object:type=commit',
    'object:type=tag',
    'combine:blob:limit=200+tree:2',
    'combine:object:type=blob+blob:limit=200',
    'combine:object:type=blob+object:type=tree',
    'combine:object:type=tree+tree:2',
    'combine:combine%3Atree%3A3%2Bblob%3Alimit=100+blob%3alimit=200',
  ])('with the filter %s', (spec) =>
    each(async (store) => {
      const filter = parseFilter(spec);
      const below = ['main', 'topic/one', 'main~7'];
      for (const names of [below, ['v1-again'], ['main^{tree}'], ['main:big.txt']]) {
        await expectSame(store, { include: names.map(rev), filter }, [...names, `--filter=${spec}`]);
      }
      const exclude = [rev('main~9')];
      await expectSame(store, { include: [rev('main')], exclude, filter }, [
        'main',
        '^main~9',
        `--filter=${spec}`,
      ]);
    })(),
  );

  it(
    'cut off at shallow commits',
    each(async (store) => {
      const tip = rev('main');
      const list = await enumerate(store, { include: [tip], shallow: new Set([tip]) });
      expect([...list.oids()].sort()).toEqual([tip, ...revList(history, ['main^{tree}'])].sort());
      // Deepening: the receiver has the tip's tree but no parents; those are sent without what it has.
      const parents = git(history, ['rev-parse', 'main^@']).toString().trim().split('\n') as Oid[];
      const deeper = await enumerate(store, {
        include: parents,
        exclude: [tip],
        excludeShallow: new Set([tip]),
        shallow: new Set(parents),
      });
      const got = new Set(deeper.oids());
      expect(parents.every((parent) => got.has(parent))).toBe(true);
      expect(got.has(tip)).toBe(false);
      for (const parent of parents) {
        for (const oid of revList(history, [`${parent}^{tree}`])) {
          expect(got.has(oid as Oid) || revList(history, ['main^{tree}']).includes(oid)).toBe(true);
        }
      }
    }),
  );

  it(
    'passes over what the receiver names and is not here, and fails on what is asked for and missing',
    each(async (store) => {
      const nowhere = '1'.repeat(40) as Oid;
      await expectSame(store, { include: [rev('v1')], exclude: [nowhere] }, ['v1']);
      await expect(enumerate(store, { include: [nowhere] })).rejects.toThrow(ObjectMissing);
    }),
  );

  it('with wrong clocks lists all required objects, and few others', async () => {
    using dir = scratch();
    const path = join(dir.path, 'skewed.git');
    git(tmpdir(), ['init', '-q', '--bare', path]);
    const random = generator(4);
    let stream = '';
    for (let i = 1; i <= 60; i++) {
      stream += `commit refs/heads/main\nmark :${i}\ncommitter C <c@d> ${random(2_000_000_000)} +0000\ndata 0\n`;
      if (i > 1) stream += `from :${i - 1}\n`;
      if (i > 5 && i % 5 === 0) stream += `merge :${1 + random(i - 3)}\n`;
      stream += `M 100644 inline f${random(9)}\ndata 2\n${i}\n\n`;
    }
    git(path, ['fast-import', '--quiet'], stream);
    git(path, ['repack', '-adq']);
    const store = new PackStore(packsOf(path));
    const commits = git(path, ['rev-list', '--all']).toString().trim().split('\n') as Oid[];
    for (let round = 0; round < 20; round++) {
      const [include, exclude] = [commits[random(60)]!, commits[random(60)]!];
      const got = new Set(
        await enumerate(store, { include: [include], exclude: [exclude] }).then((list) => list.oids()),
      );
      const all = new Set(revList(path, [include]));
      const had = new Set(revList(path, [exclude]));
      for (const oid of got) expect(all.has(oid)).toBe(true);
      for (const oid of all) expect(got.has(oid as Oid) || had.has(oid)).toBe(true);
    }
  });
});

describe('packs that git accepts', () => {
  /** git accepts the pack into a repository that may have other objects, and fsck finds no error. */
  function receive(pack: Uint8Array, objects: readonly string[], before?: Uint8Array): void {
    using dir = scratch();
    git(tmpdir(), ['init', '-q', '--bare', dir.path]);
    if (before) git(dir.path, ['index-pack', '--stdin', '--strict'], before);
    git(dir.path, ['index-pack', '--stdin', '--strict', '--fix-thin'], pack);
    git(dir.path, ['fsck', '--strict', '--full', '--no-dangling']);
    const there = git(
      dir.path,
      ['cat-file', '--batch-check=%(objectname) %(objecttype)'],
      `${objects.join('\n')}\n`,
    );
    expect(there.toString()).not.toContain('missing');
  }

  it.each<[string, WritePackOptions]>([
    ['with bases by distance', {}],
    ['with bases by id', { ofsDelta: false }],
  ])('of everything, %s', async (_name, options) => {
    for (const [, store] of stores) {
      const list = await enumerate(store, { include: tips });
      const pack = await collect(writePack(store, list, options));
      receive(pack, revList(history, ['--all']));
      const indexed = await indexPack([pack]);
      expect([...indexed.oids()].sort()).toEqual(revList(history, ['--all']));
    }
  });

  it('that are a copy of the only pack', async () => {
    const store = stores[0]![1];
    const [only] = await store.packs();
    const list = await enumerate(store, { include: tips });
    const pack = await collect(writePack(store, list));
    expect(pack.length).toBe(only!.description.packSize);
  });

  it(
    'of a part, whole or thin',
    each(async (store) => {
      const before = packObjects(history, ['main~12']);
      const list = await enumerate(store, { include: [rev('main')], exclude: [rev('main~12')] });
      const objects = revList(history, ['main', '^main~12']);
      for (const ofsDelta of [true, false]) {
        const whole = await collect(writePack(store, list, { ofsDelta }));
        await indexPack([whole]);
        receive(whole, objects, before);
        const thin = await collect(writePack(store, list, { thin: true, ofsDelta }));
        receive(thin, objects, before);
      }
    }),
  );

  it('that are thin if the receiver has the base of a stored delta', async () => {
    const { store } = await storeOf(packObjects(history, ['--all'], ['--window=100']));
    const list = await enumerate(store, { include: tips, exclude: [rev('main~2')] });
    const thin = await collect(writePack(store, list, { thin: true }));
    await expect(indexPack([thin])).rejects.toThrow(CorruptData);
  });

  it('that are small for a receiver with the previous version, whatever the direction of stored deltas', async () => {
    // git stores the newest version whole, so there is no stored delta for the objects of a fetch.
    const { store } = await storeOf(packObjects(history, ['main'], ['--window=100']));
    const list = await enumerate(store, { include: [rev('main')], exclude: [rev('main~1')] });
    const thin = await collect(writePack(store, list, { thin: true }));
    const theirs = packObjects(history, ['main', '^main~1'], ['--thin']);
    expect(thin.length).toBeLessThan(1.5 * theirs.length);
    receive(thin, revList(history, ['main', '^main~1']), packObjects(history, ['main~1']));
  });

  it('of some objects out of a large pack, without its whole index', async () => {
    const random = generator(8);
    using dir = scratch();
    const path = join(dir.path, 'wide.git');
    git(tmpdir(), ['init', '-q', '--bare', path]);
    let stream = 'commit refs/heads/main\nmark :1\ncommitter C <c@d> 1 +0000\ndata 0\n';
    for (let i = 0; i < 21_000; i++)
      stream += `M 100644 inline d${i % 50}/f${i}\ndata ${String(i).length}\n${i}\n`;
    for (let i = 2; i < 20; i++) {
      stream += `\ncommit refs/heads/main\nmark :${i}\ncommitter C <c@d> ${i} +0000\ndata 0\nfrom :${i - 1}\n`;
      stream += `M 100644 inline d${random(50)}/new\ndata ${String(i).length}\n${i}\n`;
    }
    git(path, ['fast-import', '--quiet'], `${stream}\n`);
    // fast-import writes newer versions as deltas of older ones, so the receiver has the bases.
    const store = new PackStore(packsOf(path));
    const list = await enumerate(store, {
      include: [revParse(path, 'main')],
      exclude: [revParse(path, 'main~4')],
    });
    const before = packObjects(path, ['main~4']);
    const whole = await collect(writePack(store, list));
    const thin = await collect(writePack(store, list, { thin: true }));
    expect(thin.length).toBeLessThan(whole.length);
    receive(whole, revList(path, ['main', '^main~4']), before);
    receive(thin, revList(path, ['main', '^main~4']), before);
  });

  it('of listed objects, the empty tree among them', async () => {
    const { store } = await storeOf(packObjects(history, ['main']));
    const oids = [rev('main'), rev('main^{tree}'), EMPTY_TREE];
    const list = await listObjects(store, oids);
    const indexed = await indexPack([await collect(writePack(store, list))]);
    expect([...indexed.oids()].sort()).toEqual([...oids].sort());
    await expect(listObjects(store, ['2'.repeat(40) as Oid])).rejects.toThrow(ObjectMissing);
  });

  it('never from damaged entries, because the CRC-32 is checked', async () => {
    const { repository } = await storeOf(packObjects(history, ['main']));
    const [description] = await repository.objects.listPacks();
    const { objects } = repository;
    const store = new PackStore({
      ...objects,
      open: (pack, part) => {
        const file = objects.open(pack, part);
        if (part === 'index') return file;
        return {
          size: file.size,
          read: async (offset, length) => {
            const bytes = Buffer.from(await file.read(offset, length));
            const at = description!.packSize - 40 - offset;
            if (at >= 0 && at < length) bytes[at]! ^= 1;
            return bytes;
          },
        };
      },
    });
    const oids = revList(history, ['main']) as Oid[];
    const all = await listObjects(store, oids);
    await expect(collect(writePack(store, all))).rejects.toMatchObject({ code: 'pack-checksum' });
    await expect(collect(writePack(store, all, { ofsDelta: false }))).rejects.toMatchObject({
      code: 'pack-entry',
    });
  });

  it('after a push on top of the listed packs', async () => {
    const { repository, store } = await storeOf(packObjects(history, ['main~6']));
    const thin = packObjects(history, ['main', '^main~6'], ['--thin']);
    await addPack(repository, await indexPack([thin], { store }));
    const list = await enumerate(store, { include: [rev('main')] });
    receive(await collect(writePack(store, list)), revList(history, ['main']));
  });
});

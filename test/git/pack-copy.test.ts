import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { bitmapBuilder } from '../../lib/git/bitmap/build-bitmap.ts';
import { CorruptData } from '../../lib/git/corrupt-data.ts';
import { MemoryRepository } from '../../lib/git/memory.ts';
import type { Oid } from '../../lib/git/oid.ts';
import { CopiedPacks } from '../../lib/git/pack/copied-packs.ts';
import { indexPack } from '../../lib/git/pack/index-pack.ts';
import { PackStore } from '../../lib/git/pack/store.ts';
import { writePack } from '../../lib/git/pack/write.ts';
import { mergedIndexBuilder } from '../../lib/git/pack/write-merged-index.ts';
import type { ObjectDatabase } from '../../lib/git/ports.ts';
import { enumerate } from '../../lib/git/reachable.ts';
import type { RefName } from '../../lib/git/refname.ts';
import { addPack, collect, makeHistory, packObjects, revList, revParse, scratch } from './pack-fixture.ts';
import { git } from './repository-files.ts';

const dir = scratch();
const path = join(dir.path, 'source.git');
/** Two packs that a clone of `main` needs completely, and one that it needs partly. */
const repository = new MemoryRepository();

beforeAll(async () => {
  makeHistory(path, 240);
  for (const revisions of [['main~9'], ['main~3', '^main~9'], ['--all', '^main~3']]) {
    const store = new PackStore(repository.objects);
    await addPack(repository, await indexPack([packObjects(path, revisions)], { store }));
  }
  const to = revParse(path, 'main');
  const from = '0'.repeat(40) as Oid;
  await repository.refs.compareAndSwap([{ name: 'refs/heads/main' as RefName, from, to }]);
  return () => dir[Symbol.dispose]();
});

test('packs that are needed completely are copied whole, followed by the entries of other packs', async () => {
  const store = new PackStore(repository.objects);
  const list = await enumerate(store, { include: [revParse(path, 'main')] });
  const copied = new CopiedPacks(list, true).count;
  expect(copied).toBeGreaterThan(100);
  expect(copied).toBeLessThan(list.count);
  for (const ofsDelta of [true, false]) {
    const pack = await collect(writePack(store, list, { ofsDelta }));
    const bare = join(dir.path, `copy-${ofsDelta}.git`);
    git(dir.path, ['init', '-q', '--bare', bare]);
    const file = join(bare, 'received.pack');
    writeFileSync(file, pack);
    git(bare, ['index-pack', '--strict', '--stdin'], pack);
    const held = git(bare, ['cat-file', '--batch-all-objects', '--batch-check=%(objectname)']).toString();
    expect(held.trim().split('\n')).toEqual(revList(path, ['main']));
    git(bare, ['update-ref', 'refs/heads/main', revParse(path, 'main')]);
    git(bare, ['fsck', '--strict']);
  }
});

test('damage in a pack that is copied whole gives an error instead of a trailer', async () => {
  const store = new PackStore(repository.objects);
  const list = await enumerate(store, { include: [revParse(path, 'main')] });
  const [copied] = list.packs.filter((_, number) => new CopiedPacks(list, true).has(number));
  const { objects } = repository;
  const damaged: ObjectDatabase = {
    ...objects,
    open: (pack, part) => {
      const access = objects.open(pack, part);
      if (part === 'index' || pack.id !== copied!.description.id) return access;
      return {
        size: access.size,
        read: async (at, length) => {
          const bytes = Buffer.from(await access.read(at, length));
          if (at <= 5000 && at + length > 5000) bytes[5000 - at]! ^= 1;
          return bytes;
        },
      };
    },
  };
  // Enumerated before the damage, so that the walk does not read it.
  const reader = new PackStore(damaged);
  const packs = await reader.packs();
  const swapped = list.packs.map((pack) => packs.find((p) => p.description.id === pack.description.id)!);
  list.packs.splice(0, list.packs.length, ...swapped);
  await expect(collect(writePack(reader, list))).rejects.toBeInstanceOf(CorruptData);
});

test('a clone above the threshold uses the bitmap, with the same result', async () => {
  const packs = await repository.objects.listPacks();
  const include = [revParse(path, 'main')];
  const walked = [...(await enumerate(new PackStore(repository.objects), { include })).oids()].sort();
  for (const builder of [mergedIndexBuilder, bitmapBuilder]) {
    const store = new PackStore(repository.objects);
    const made = await builder.build({
      store,
      refs: repository.refs,
      packs,
      deadline: Infinity,
      stopsAt: Infinity,
    });
    const provenance = { packs: packs.map(({ id }) => id), objects: 0, note: made!.note };
    await repository.storeDerived(builder.kind, made!.content, provenance);
  }
  let read = false;
  const { derived } = repository.objects;
  const watched: ObjectDatabase = {
    ...repository.objects,
    derived: {
      ...derived!,
      open: (file) => {
        read ||= file.kind === 'bitmap';
        return derived!.open(file);
      },
    },
  };
  expect([...(await enumerate(new PackStore(watched), { include })).oids()].sort()).toEqual(walked);
  expect(read).toBe(true);
});

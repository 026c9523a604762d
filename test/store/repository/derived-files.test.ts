/** Files derived from packs: listed with them, replaced, swept, and deleted with their repository. */
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { sealDerived } from '../../../lib/git/derived.ts';
import { PackCache } from '../../../lib/git/pack/pack-cache.ts';
import { type DerivedContent, PacksChanged } from '../../../lib/git/ports.ts';
import { derivedPrefix } from '../../../lib/store/repository/derived-files.ts';
import { MaintainedGitObjects } from '../../../lib/store/repository/maintained-objects.ts';
import { removeRepository } from '../../../lib/store/repository/removal.ts';
import { closeRepository } from '../../../lib/store/repository/state.ts';
import { DAY, type Ground, HOUR, openYard, type Yard } from '../maintenance/maintenance-fixture.ts';

let yard: Yard;
beforeAll(async () => {
  yard = await openYard();
});
afterEach(() => {
  yard.s3.faults.clear();
  yard.dynamo.onOperation = undefined;
});
afterAll(() => yard[Symbol.asyncDispose]());

const provenance = { packs: ['a'], objects: 3, note: 'note' };
const later = (ms: number) => new Date(Date.now() + ms);
const bytes = (length: number, from = 0) => Uint8Array.from({ length }, (_, i) => (i * 7 + from) & 255);

async function maintained(ground: Ground, now = new Date()): Promise<MaintainedGitObjects> {
  const lease = await yard.store.leases.acquire(ground.id, 1, now);
  return new MaintainedGitObjects(yard.store, lease!, now);
}

async function keep(ground: Ground, content: DerivedContent, now = new Date()) {
  const lease = (await yard.store.leases.acquire(ground.id, 900, now))!;
  const objects = new MaintainedGitObjects(yard.store, lease, now);
  const file = await objects.storeDerived('commit-graph', content, provenance);
  await yard.store.leases.release(lease);
  return file;
}

const derivedKeys = async (ground: Ground) => (await yard.store.blobs.list(derivedPrefix(ground.id))).keys;

/** Reads the whole file as a request does. @returns undefined when there is no usable file */
async function readGraph(ground: Ground, cache = new PackCache()): Promise<Uint8Array | undefined> {
  const { store } = ground.open(cache);
  return store.run((objects) => {
    const file = objects.derived('commit-graph');
    return file?.attempt(() => Uint8Array.from(file.file.slice(0, file.file.size)));
  });
}

describe('a derived file', () => {
  test('is listed in the query that lists the packs, and read in blocks that are checked', async () => {
    const ground = await yard.repository();
    await ground.commit();
    const content = bytes(600_000);
    const file = await keep(ground, sealDerived(content));
    expect(file).toMatchObject({ kind: 'commit-graph', size: 600_000, provenance });
    const operations: string[] = [];
    yard.dynamo.onOperation = ({ operation }) => void operations.push(operation);
    expect(await readGraph(ground)).toEqual(content);
    expect(operations.sort()).toEqual(['BatchGetItem', 'Query']);
  });

  test('replaces the previous one of its kind, which is deleted a day later; then no visit is scheduled', async () => {
    const ground = await yard.repository();
    await ground.commit();
    const first = await keep(ground, sealDerived(bytes(10)));
    const second = await keep(ground, sealDerived(bytes(20)));
    const { refs } = ground.open();
    await refs.listPacks();
    expect(refs.derived('commit-graph')).toMatchObject({ id: second.id });
    expect(await derivedKeys(ground)).toEqual([first.location, second.location]);
    await ground.maintain(later(HOUR), { collect: true });
    const due = (message: { body: Readonly<Record<string, unknown>> }) =>
      message.body['repositoryId'] === ground.id;
    expect(await derivedKeys(ground)).toHaveLength(2);
    let visits = 0;
    for (let day = 1; day < 25; day++) {
      for (const _ of (await yard.sentBy(later(day * DAY))).filter(due)) {
        visits++;
        await ground.maintain(later(day * DAY));
      }
      if (day === 3) expect(await derivedKeys(ground)).toEqual([second.location]);
    }
    expect(visits).toBeLessThan(5);
    expect(await readGraph(ground)).toEqual(bytes(20));
  });

  test('that was never listed is deleted after a week', async () => {
    const ground = await yard.repository();
    await ground.commit();
    const stray = `${derivedPrefix(ground.id)}01ARZ3NDEKTSV4RRFFQ69G5FAV.bitmap`;
    await yard.store.blobs.put(stray, bytes(3));
    const kept = await keep(ground, sealDerived(bytes(10)));
    await ground.maintain(new Date(), { collect: true });
    await ground.maintain(later(DAY + HOUR));
    expect(await derivedKeys(ground)).toEqual([kept.location]);
  });

  test('is not listed by a process that lost the lease, and is deleted', async () => {
    const ground = await yard.repository();
    const old = await maintained(ground);
    await maintained(ground, later(5000));
    await expect(old.storeDerived('commit-graph', sealDerived(bytes(9)), provenance)).rejects.toThrow(
      PacksChanged,
    );
    expect(await derivedKeys(ground)).toEqual([]);
    expect(await readGraph(ground)).toBeUndefined();
  });

  test('is deleted with its repository', async () => {
    const ground = await yard.repository();
    await keep(ground, sealDerived(bytes(10)));
    await yard.store.table.transact(closeRepository(ground.id));
    expect(await removeRepository(yard.store, { repositoryId: ground.id }, Date.now() + 60_000)).toBe(true);
    expect(await derivedKeys(ground)).toEqual([]);
  });
});

describe('a damaged derived file', () => {
  test.each<[string, (all: Uint8Array) => Uint8Array]>([
    ['a bit turned', (all) => all.map((byte, i) => (i === 300_000 ? byte ^ 4 : byte))],
    [
      'a bit turned in the checksums',
      (all) => all.map((byte, i) => (i === all.length - 1 ? byte ^ 1 : byte)),
    ],
    ['cut short', (all) => all.subarray(0, 500_000)],
    ['without checksums', (all) => all.subarray(0, 600_000)],
    ['empty', () => new Uint8Array(0)],
  ])('%s: it is ignored with one warning', async (_, change) => {
    const ground = await yard.repository();
    await ground.commit();
    const content = sealDerived(bytes(600_000)) as Extract<DerivedContent, { kind: 'bytes' }>;
    await keep(ground, { ...content, bytes: change(content.bytes) });
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const cache = new PackCache();
    expect(await readGraph(ground, cache)).toBeUndefined();
    expect(await readGraph(ground, cache)).toBeUndefined();
    expect(warn).toHaveBeenCalledTimes(1);
    warn.mockRestore();
  });

  test('whose bytes are missing or unreadable is ignored too, but only for a while', async () => {
    const ground = await yard.repository();
    await ground.commit();
    const { location } = await keep(ground, sealDerived(bytes(10)));
    await yard.store.blobs.delete([location]);
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const cache = new PackCache();
    expect(await readGraph(ground, cache)).toBeUndefined();
    await yard.store.blobs.put(location, (sealDerived(bytes(10)) as { bytes: Uint8Array }).bytes);
    vi.useFakeTimers({ now: Date.now() + 61_000, toFake: ['Date'] });
    expect(await readGraph(ground, cache)).toEqual(bytes(10));
    vi.useRealTimers();
    expect(warn).toHaveBeenCalledTimes(1);
    warn.mockRestore();
  });
});

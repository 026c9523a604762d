import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { batchMisses } from '../../lib/git/batch-misses.ts';
import { statFiles } from '../../lib/git/diff/stats.ts';
import { diffTrees } from '../../lib/git/diff/tree-diff.ts';
import { editTree } from '../../lib/git/edit.ts';
import { History } from '../../lib/git/history.ts';
import type { ObjectStore, SyncObjects } from '../../lib/git/objects.ts';
import type { Oid } from '../../lib/git/oid.ts';
import { BlockMiss } from '../../lib/git/pack/block-cache.ts';
import type { PackStore } from '../../lib/git/pack/store.ts';
import type { RawPath } from '../../lib/git/tree/path.ts';
import { listTree } from '../../lib/git/tree.ts';
import { GitFixture, generateHistory, random } from './history-fixture.ts';

/** A store without cache: every first read of an object is a BlockMiss, and some later ones too. */
class ColdStore implements ObjectStore {
  readonly #store: PackStore;
  readonly #here = new Set<Oid>();
  readonly #pick = random(5);
  trips = 0;

  constructor(store: PackStore) {
    this.#store = store;
  }

  async run<T>(work: (objects: SyncObjects) => T): Promise<T> {
    for (;;) {
      try {
        return await this.#store.run((objects) => {
          const come = (oid: Oid): Oid => {
            if (this.#here.has(oid)) return oid;
            this.#here.add(oid);
            throw new Missed();
          };
          return work({
            has: (oid) => objects.has(oid),
            read: (oid) => objects.read(come(oid)),
            header: (oid) => objects.header(come(oid)),
          });
        });
      } catch (error) {
        if (!(error instanceof Missed)) throw error;
        this.trips++;
        if (this.#pick(10) === 0)
          for (const oid of this.#here) if (this.#pick(3) === 0) this.#here.delete(oid);
      }
    }
  }

  has = (oid: Oid) => this.#store.has(oid);
  read = (oid: Oid) => this.#store.read(oid);
  header = (oid: Oid) => this.#store.header(oid);
  resolvePrefix = (prefix: string, limit: number) => this.#store.resolvePrefix(prefix, limit);
}

/** Like `PackStore.run`, but without letting the pack store handle the misses. */
class Missed extends Error {}

describe('results do not depend on the cache', () => {
  const fixture = new GitFixture();
  let warm: PackStore;
  let oids: Oid[];

  beforeAll(async () => {
    generateHistory(fixture, { seed: 41, commits: 80, skew: true });
    warm = (await fixture.load()).store;
    oids = fixture.lines('rev-list', '--all') as Oid[];
  });
  afterAll(() => fixture[Symbol.dispose]());

  test.each(['log', 'path', 'range', 'topo', 'merge base', 'merged'])('%s', async (what) => {
    const pick = random(6);
    const cold = new ColdStore(warm);
    for (let i = 0; i < 10; i++) {
      const [a, b] = [oids[pick(oids.length)]!, oids[pick(oids.length)]!];
      const ask = async (history: History) => {
        const log = async (query: object) =>
          (await history.log({ tips: [a], limit: 1000, ...query })).map((n) => n.oid);
        if (what === 'log') return log({});
        if (what === 'path') return log({ path: 'a' as RawPath });
        if (what === 'range') return log({ exclude: [b], path: 'lib' as RawPath });
        if (what === 'topo') return log({ order: 'topo' });
        if (what === 'merged') return history.merged(oids, a);
        return (await history.mergeBases(a, [b])).map((n) => n.oid);
      };
      expect(await ask(new History(cold))).toEqual(await ask(new History(warm)));
    }
    expect(cold.trips).toBeGreaterThan(10);
  });

  test('listings, diffs, edits', async () => {
    const cold = new ColdStore(warm);
    const [a, b] = [fixture.oid('main^{tree}'), fixture.oid('main~5^{tree}')];
    const work = async (store: ObjectStore) => {
      const { changes } = await diffTrees(store, a, b);
      return [
        await listTree(store, a, { recursive: true, limit: 5, offset: 3 }),
        await listTree(store, a, { limit: 5 }),
        changes,
        await statFiles(store, changes),
        (await editTree(store, a, [{ action: 'create', path: 'lib/deep/new', content: Buffer.from('x') }]))
          .tree,
      ];
    };
    expect(await work(cold)).toEqual(await work(warm));
    expect(cold.trips).toBeGreaterThan(10);
  });

  test('independent reads are fetched together', async () => {
    const { commits, trips } = await countTrips(warm, oids);
    expect(commits).toBe(oids.length);
    expect(trips).toBe(1);
  });
});

async function countTrips(
  store: PackStore,
  oids: readonly Oid[],
): Promise<{ commits: number; trips: number }> {
  const missed = new Set(oids);
  let trips = 0;
  for (;;) {
    try {
      const found = await store.run((objects) => {
        try {
          return batchMisses(oids, (oid) => {
            if (missed.delete(oid)) throw new BlockMiss([]);
            return objects.header(oid);
          });
        } catch (error) {
          if (error instanceof BlockMiss) throw new Missed();
          throw error;
        }
      });
      return { commits: found.length, trips };
    } catch (error) {
      if (!(error instanceof Missed)) throw error;
      trips++;
    }
  }
}

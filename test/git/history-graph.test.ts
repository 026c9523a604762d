/** Every history query has the same result with a commit-graph, with a partial one, and without one. */
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { sealDerived } from '../../lib/git/derived.ts';
import { KnownHistory } from '../../lib/git/history/known.ts';
import { LOAD_GRAPH_AFTER } from '../../lib/git/history/log-query.ts';
import {
  type CommitNode,
  History,
  HistoryLimit,
  type LogQuery,
  type WalkBounds,
} from '../../lib/git/history.ts';
import type { MemoryRepository } from '../../lib/git/memory.ts';
import { ObjectMissing, type ObjectStore, type SyncObjects } from '../../lib/git/objects.ts';
import type { Oid } from '../../lib/git/oid.ts';
import { PackCache } from '../../lib/git/pack/pack-cache.ts';
import { PackStore } from '../../lib/git/pack/store.ts';
import { parseCommitLinks } from '../../lib/git/parse.ts';
import { entryAtPath } from '../../lib/git/tree/entry.ts';
import type { RawPath } from '../../lib/git/tree/path.ts';
import { ASKED_PATHS, GitFixture, generateHistory, keepGraph, random } from './history-fixture.ts';

const ids = (nodes: readonly CommitNode[]) => nodes.map(({ oid }) => oid);

/** Counts object reads. */
class Counted implements ObjectStore {
  readonly #store: PackStore;
  reads = 0;
  constructor(store: PackStore) {
    this.#store = store;
  }
  run<T>(work: (objects: SyncObjects) => T): Promise<T> {
    return this.#store.run((objects) =>
      work({
        has: (oid) => objects.has(oid),
        read: (oid) => {
          this.reads++;
          return objects.read(oid);
        },
        header: (oid) => objects.header(oid),
        derived: objects.derived,
      }),
    );
  }
  has = (oid: Oid) => this.#store.has(oid);
  read = (oid: Oid) => this.#store.read(oid);
  header = (oid: Oid) => this.#store.header(oid);
  resolvePrefix = (prefix: string, limit: number) => this.#store.resolvePrefix(prefix, limit);
}

/** A history over the current repository; `warm`: the graph is in memory. */
async function open(repository: MemoryRepository, warm = true) {
  const store = new PackStore(repository.objects);
  if (warm) {
    await store.run((objects) => {
      const file = objects.derived('commit-graph')?.file;
      if (file) for (let i = 0; i < file.blocks.length; i++) file.block(i);
    });
  }
  const counted = new Counted(store);
  return { store, counted, history: new History(counted) };
}

async function entryOf(store: PackStore, commit: Oid, path: RawPath) {
  return store.run((objects) => entryAtPath(objects, parseCommitLinks(objects.read(commit).data).tree, path));
}

/** Queries of every kind, by a seed; each returns a comparable result. */
async function answers(history: History, store: PackStore, fixture: GitFixture, seed: number) {
  const pick = random(seed);
  const commits = fixture.lines('rev-list', '--all') as Oid[];
  const branches = fixture.lines('for-each-ref', '--format=%(objectname)', 'refs/heads') as Oid[];
  const dates = fixture.lines('log', '--all', '--format=%ct').map(Number);
  const one = () => commits[pick(commits.length)]!;
  const date = () => dates[pick(dates.length)]!;
  const found: unknown[] = [];
  const log = async (query: LogQuery & { skip?: number; limit?: number }) =>
    found.push(ids(await history.log({ limit: 1e6, ...query })));
  for (const order of ['date', 'topo'] as const) {
    await log({ tips: branches, order });
    await log({ tips: branches, order, firstParent: true });
    for (let i = 0; i < 8; i++)
      await log({ tips: [one(), one()], order, skip: pick(30), limit: 1 + pick(30) });
    for (let i = 0; i < 12; i++) await log({ tips: [one()], exclude: [one()], order });
    for (const path of ASKED_PATHS as RawPath[]) {
      await log({ tips: [one()], path, order });
      await log({ tips: branches, path, order, firstParent: true });
      await log({ tips: [one(), one(), one()], path, order, skip: pick(3), limit: 1 + pick(9) });
      await log({ tips: [one(), one()], path, order, since: date() });
      await log({
        tips: [one(), one()],
        path,
        order,
        since: date(),
        until: date(),
        firstParent: pick(2) > 0,
      });
      await log({ tips: [one()], exclude: [one()], path, order });
    }
  }
  for (const path of ASKED_PATHS as RawPath[]) {
    for (let i = 0; i < 6; i++) found.push((await history.lastCommitForPath(one(), path))?.oid);
  }
  for (let i = 0; i < 40; i++) {
    found.push(ids(await history.mergeBases(one(), [one()])).sort());
    found.push(ids(await history.mergeBases(one(), [one(), one()])).sort());
    found.push(ids(await history.commonAncestors([one(), one(), one()])).sort());
    found.push(await history.isAncestor(one(), one()));
    found.push(await history.merged(branches, one()));
    found.push(await history.containing(branches, one()));
  }
  for (const path of ['README', 'lib/z', 'a/b', 'run.sh'] as RawPath[]) {
    const commit = one();
    const entry = await entryOf(store, commit, path);
    if (entry && (entry.mode & 0o170000) === 0o100000)
      found.push(await history.blame(commit, { path, entry }));
  }
  found.push(await history.count({ tips: branches }, 1e6), await history.authors(branches[0]!));
  return found;
}

describe.each([
  { seed: 31, commits: 150, skew: false },
  { seed: 32, commits: 300, skew: true },
])('a generated history $seed', (options) => {
  const fixture = new GitFixture();
  let repository: MemoryRepository;
  let plain: unknown[];
  beforeAll(async () => {
    generateHistory(fixture, options);
    ({ repository } = await fixture.load());
    const { history, store } = await open(repository);
    plain = await answers(history, store, fixture, 1);
  });
  afterAll(() => fixture[Symbol.dispose]());

  test.each(['all', 'most', 'half', 'none'])('with a graph of %s of its commits', async (part) => {
    const commits = fixture.lines('rev-list', '--all') as Oid[];
    const share = { all: 0, most: 0.1, half: 0.5, none: 1 }[part]!;
    await keepGraph(repository, commits.slice(Math.floor(share * commits.length)));
    const warm = await open(repository);
    expect(await answers(warm.history, warm.store, fixture, 1)).toEqual(plain);
    const cold = await open(repository, false);
    expect(await answers(cold.history, cold.store, fixture, 1)).toEqual(plain);
  });

  test('results are those of git', async () => {
    await keepGraph(repository);
    const { history } = await open(repository);
    const main = fixture.oid('main');
    expect(ids(await history.log({ tips: [main], order: 'topo', limit: 1e6 }))).toEqual(
      fixture.lines('rev-list', '--topo-order', 'main'),
    );
    expect(ids(await history.log({ tips: [main], order: 'topo', skip: 13, limit: 17 }))).toEqual(
      fixture.lines('rev-list', '--topo-order', '--skip=13', '-n17', 'main'),
    );
    for (const path of ASKED_PATHS.filter((it) => /^[ -~]*$/.test(it)) as RawPath[]) {
      expect(ids(await history.log({ tips: [main], path, limit: 1e6 }))).toEqual(
        fixture.lines('rev-list', 'main', '--', path),
      );
    }
  });

  test('saves reads of commits and trees', async () => {
    const main = fixture.oid('main');
    const old = fixture.lines('rev-list', 'main').at(-1) as Oid;
    const cost = async (ask: (history: History) => Promise<unknown>) => {
      const { history, counted } = await open(repository);
      await ask(history);
      return counted.reads;
    };
    const questions: ((history: History) => Promise<unknown>)[] = [
      (history) => history.log({ tips: [main], limit: 1e6 }),
      (history) => history.log({ tips: [main], path: 'never/was' as RawPath, limit: 1e6 }),
      (history) => history.mergeBases(main, [old]),
      (history) => history.isAncestor(old, main),
      (history) => history.merged([old], main),
    ];
    const path = (history: History) => history.log({ tips: [main], path: 'lib/z' as RawPath, limit: 1e6 });
    await keepGraph(repository, []);
    const without = await cost(path);
    for (const [i, ask] of questions.entries()) expect(await cost(ask), String(i)).toBeGreaterThan(10);
    await keepGraph(repository);
    for (const [i, ask] of questions.entries()) expect(await cost(ask), String(i)).toBe(0);
    expect(await cost(path)).toBeLessThan(without / 2);
  });

  test('commits that did not change a path are passed without nodes for them, and count', async () => {
    await keepGraph(repository);
    const [main, path] = [fixture.oid('main'), 'never/was' as RawPath];
    const asks: ((history: History, bounds?: WalkBounds) => Promise<unknown>)[] = [
      (history, bounds) => history.log({ tips: [main], path, limit: 1e6 }, bounds),
      (history, bounds) => history.lastCommitForPath(main, path, bounds),
    ];
    for (const [i, ask] of asks.entries()) {
      const { counted } = await open(repository);
      await expect(ask(new History(counted), { maxCommits: 2 }), String(i)).rejects.toThrow(HistoryLimit);
      const known = new KnownHistory();
      await ask(new History(counted, known));
      expect(known.graph.size, String(i)).toBeLessThan(options.commits / 5);
    }
  });

  test('generation numbers end a walk for an unreachable commit at once, where dates cannot', async () => {
    await keepGraph(repository);
    const { history } = await open(repository);
    const roots = fixture.lines('rev-list', '--max-parents=0', '--all') as Oid[];
    const tip = fixture.lines('rev-list', '--topo-order', '--all')[0] as Oid;
    for (const root of roots) {
      // The tip has a higher generation than every root: only the root is visited.
      expect(await history.isAncestor(tip, root, { maxCommits: 1 })).toBe(false);
    }
  });
});

describe('a wrong graph', () => {
  const fixture = new GitFixture();
  let repository: MemoryRepository;
  let bytes: Uint8Array;
  let plain: unknown[];
  const ask = async () => {
    const { history } = await open(repository, false);
    const main = fixture.oid('main');
    return [
      ids(await history.log({ tips: [main], limit: 1e6 })),
      ids(await history.log({ tips: [main], path: 'lib' as RawPath, limit: 1e6 })),
      await history.merged([fixture.oid('main~5'), fixture.oid('light')], main),
    ];
  };
  beforeAll(async () => {
    generateHistory(fixture, { seed: 33, commits: LOAD_GRAPH_AFTER + 40, skew: true });
    ({ repository } = await fixture.load());
    plain = await ask();
    bytes = await keepGraph(repository);
  });
  afterAll(() => fixture[Symbol.dispose]());
  afterEach(() => void vi.restoreAllMocks());

  const from = { packs: [], objects: 0, note: '' };

  test('with a flipped bit, or truncated, is ignored with a warning', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const { bytes: sealed, checksumsCrc } = sealDerived(bytes) as { bytes: Uint8Array; checksumsCrc: number };
    await fc.assert(
      fc.asyncProperty(fc.nat(sealed.length - 1), fc.nat(7), fc.boolean(), async (at, bit, cut) => {
        const changed = cut ? sealed.slice(0, at) : sealed.slice();
        if (!cut) changed[at]! ^= 1 << bit;
        await repository.storeDerived(
          'commit-graph',
          { kind: 'bytes', bytes: changed, size: bytes.length, checksumsCrc },
          from,
        );
        warn.mockClear();
        expect(await ask()).toEqual(plain);
        expect(warn).toHaveBeenCalledTimes(1);
      }),
      { numRuns: 25 },
    );
  });

  test('with a malformed structure and correct checksums does not change any result', async () => {
    vi.spyOn(console, 'warn').mockImplementation(() => {});
    await fc.assert(
      // Header and chunk table: as another version might write them.
      fc.asyncProperty(fc.nat(8 + 12 * 8), fc.nat(255), async (at, value) => {
        const changed = bytes.slice();
        changed[at] = value;
        await repository.storeDerived('commit-graph', sealDerived(changed), from);
        const found = await ask().catch((error: Error) => error.name);
        expect([JSON.stringify(plain), '"ObjectMissing"']).toContain(JSON.stringify(found));
      }),
      { numRuns: 25 },
    );
  });

  test('without chunks, with other names, with base graphs, empty, or not a graph', async () => {
    vi.spyOn(console, 'warn').mockImplementation(() => {});
    const header = (...values: number[]) => Uint8Array.from([...values, ...bytes.subarray(values.length)]);
    const C = [0x43, 0x47, 0x50, 0x48];
    for (const wrong of [
      header(...C, 2),
      header(...C, 1, 2),
      header(...C, 1, 1, 0),
      header(...C, 1, 1, 255),
      header(...C, 1, 1, 7, 1),
      header(0),
      new Uint8Array(40),
      new Uint8Array(3),
      new Uint8Array(300_000).fill(0xff),
    ]) {
      await repository.storeDerived('commit-graph', sealDerived(wrong), from);
      expect(await ask()).toEqual(plain);
    }
  });

  test('with commits that do not exist any more: a query from one of them throws', async () => {
    using other = new GitFixture();
    generateHistory(other, { seed: 34, commits: 20, skew: false });
    const stranger = await other.load();
    const graph = await keepGraph(stranger.repository);
    await repository.storeDerived('commit-graph', sealDerived(graph), from);
    const { history } = await open(repository);
    await expect(history.log({ tips: [other.oid('main')], limit: 5 })).rejects.toThrow(ObjectMissing);
    expect(await ask()).toEqual(plain);
  });
});

test('a cached history switches to a new graph, and back', async () => {
  using fixture = new GitFixture();
  generateHistory(fixture, { seed: 35, commits: 120, skew: true });
  const { repository } = await fixture.load();
  const known = new KnownHistory();
  const cache = new PackCache();
  const main = fixture.oid('main');
  const branches = fixture.lines('for-each-ref', '--format=%(objectname)', 'refs/heads') as Oid[];
  const commits = fixture.lines('rev-list', '--all') as Oid[];
  const ask = async () => {
    const history = new History(new PackStore(repository.objects, { cache }), known);
    return [
      ids(await history.log({ tips: [main], limit: 1e6, order: 'topo' })),
      await history.merged(branches, main),
      await history.containing(branches, commits[50]!),
      ids(await history.mergeBases(branches[3]!, [branches.at(-1)!])).sort(),
    ];
  };
  const plain = await ask();
  for (const share of [0.7, 0.3, 0]) {
    await keepGraph(repository, commits.slice(Math.floor(share * commits.length)));
    expect(await ask()).toEqual(plain);
    expect(await ask()).toEqual(plain);
  }
});

import { describe, expect, it } from 'vitest';
import { ALWAYS, bloomFilter, MAX_CHANGES } from '../../../lib/git/commit-graph/bloom.ts';
import { BroughtObjects } from '../../../lib/git/commit-graph/brought-objects.ts';
import { ChangedPaths } from '../../../lib/git/commit-graph/changed-paths.ts';
import { CommitTable } from '../../../lib/git/commit-graph/commit-table.ts';
import type { SyncObjects } from '../../../lib/git/objects.ts';
import { EMPTY_TREE, type Oid, oidFromBytes } from '../../../lib/git/oid.ts';
import { BlockMiss } from '../../../lib/git/pack/block-cache.ts';
import { encodeTree, hashObject } from '../../../lib/git/parse.ts';

const DEPTH = 100;
const trees = new Map<Oid, Uint8Array>();
function treeOf(name: string, mode: number, oid: Oid): Oid {
  const data = encodeTree([{ mode, name, oid }]);
  const tree = hashObject('tree', data);
  trees.set(tree, data);
  return tree;
}
let tree = treeOf('f', 0o100644, '1'.repeat(40) as Oid);
for (let i = 0; i < DEPTH; i++) tree = treeOf('d', 0o040000, tree);
const path = `${'d/'.repeat(DEPTH)}f`;

/** Reads from memory. @param fails which reads find nothing in memory at first */
function objectsFrom(fails: (read: number) => boolean): { objects: SyncObjects; reads: () => number } {
  let reads = 0;
  const read = (oid: Oid) => {
    if (fails(++reads)) throw new BlockMiss([]);
    return { type: 'tree' as const, data: trees.get(oid)! };
  };
  return { objects: { read } as Partial<SyncObjects> as SyncObjects, reads: () => reads };
}

it('a step of a filter of changed paths reads one pair of trees, however deep they are', () => {
  const { objects, reads } = objectsFrom(() => false);
  const steps = new ChangedPaths().of(tree, EMPTY_TREE);
  let filter: Uint8Array | undefined;
  for (let before = 0; filter === undefined; before = reads()) {
    filter = steps(objects);
    expect(reads() - before).toBeLessThanOrEqual(2);
  }
  expect(reads()).toBeGreaterThan(DEPTH);
  expect(filter).toEqual(bloomFilter([path]));
});

it('a filter goes on after trees that had to be fetched', () => {
  const { objects } = objectsFrom((read) => read % 3 === 0);
  const steps = new ChangedPaths().of(tree, EMPTY_TREE);
  let filter: Uint8Array | undefined;
  while (filter === undefined) {
    try {
      filter = steps(objects);
    } catch (error) {
      expect(error).toBeInstanceOf(BlockMiss);
    }
  }
  expect(filter).toEqual(bloomFilter([path]));
});

describe('what a commit brings', () => {
  const oid = (digit: string) => digit.repeat(40) as Oid;
  const put = (rows: Parameters<typeof encodeTree>[0]): Oid => {
    const data = encodeTree(rows);
    const id = hashObject('tree', data);
    trees.set(id, data);
    return id;
  };
  const broughtBy = (one: Oid, other: Oid) => {
    const seen: string[] = [];
    let tooMany = false;
    const { objects } = objectsFrom(() => false);
    const steps = new ChangedPaths().of(one, other, {
      object: (name, at, kind) => void seen.push(`${kind} ${oidFromBytes(name, at)}`),
      tooMany: () => {
        tooMany = true;
      },
    });
    let filter: Uint8Array | undefined;
    while (filter === undefined) filter = steps(objects);
    return { seen: seen.sort(), tooMany, filter };
  };

  it('is every tree and blob that the first parent has not at that path, without submodules', () => {
    const same = put([{ mode: 0o100644, name: 'x', oid: oid('1') }]);
    const below = put([
      { mode: 0o100644, name: 'new', oid: oid('2') },
      { mode: 0o160000, name: 'sub', oid: oid('3') },
    ]);
    const one = put([
      { mode: 0o040000, name: 'a', oid: same },
      { mode: 0o040000, name: 'b', oid: below },
      { mode: 0o120000, name: 'c', oid: oid('4') },
    ]);
    const other = put([
      { mode: 0o040000, name: 'a', oid: same },
      { mode: 0o100644, name: 'b', oid: oid('5') },
    ]);
    const { seen, tooMany } = broughtBy(one, other);
    expect(seen).toEqual([`2 ${below}`, `3 ${oid('2')}`, `3 ${oid('4')}`]);
    expect(tooMany).toBe(false);
  });

  it('is found to its end where more paths changed than a filter has room for', () => {
    const names = Array.from({ length: 3 * MAX_CHANGES }, (_, i) => `f${String(i).padStart(5, '0')}`);
    const rows = names.map((name, i) => ({
      mode: 0o100644,
      name,
      oid: i.toString(16).padStart(40, '0') as Oid,
    }));
    const one = put(['p', 'q'].map((name, i) => ({ mode: 0o040000, name, oid: put(rows.slice(i)) })));
    const { seen, filter } = broughtBy(one, EMPTY_TREE);
    expect(filter).toBe(ALWAYS);
    expect(new Set(seen).size).toBe(names.length + 2);
  });

  it('is not told of two trees of one name, of which one is not compared', () => {
    const [first, second] = [put([]), tree];
    const data = Buffer.concat([
      encodeTree([{ mode: 0o040000, name: 'd', oid: first }]),
      encodeTree([{ mode: 0o040000, name: 'd', oid: second }]),
    ]);
    const one = hashObject('tree', data);
    trees.set(one, data);
    expect(broughtBy(one, EMPTY_TREE).tooMany).toBe(true);
  });

  it('is not told of more pairs of trees than are compared', () => {
    let wide = put([{ mode: 0o100644, name: 'f', oid: oid('6') }]);
    for (let level = 0; level < 5; level++)
      wide = put(Array.from('0123456789', (name) => ({ mode: 0o040000, name, oid: wide })));
    const { tooMany, filter } = broughtBy(wide, EMPTY_TREE);
    expect([tooMany, filter]).toEqual([true, ALWAYS]);
  });
});

describe('what all commits bring', () => {
  const name = (n: number) => Buffer.from(n.toString(16).padStart(40, '0'), 'hex');
  const table = (count: number) => {
    const commits = new CommitTable();
    for (let n = 0; n < count; n++) commits.number(n.toString(16).padStart(40, 'c') as Oid);
    return commits;
  };

  it('is complete when it is known of each', () => {
    const brought = new BroughtObjects();
    expect(brought.isComplete).toBe(false);
    brought.begin(table(2), 10);
    const told = brought.of(1)!;
    told.object(name(5), 0, 3);
    told.object(name(6), 0, 2);
    brought.end(1);
    expect(brought.isComplete).toBe(false);
    brought.of(0)!.object(name(6), 0, 2);
    brought.end(0);
    expect(brought.isComplete).toBe(true);
    expect([...brought.numbers(0)]).toEqual([1]);
    expect(brought.kinds.subarray(0, 2)).toEqual(Uint8Array.of(3, 2));
  });

  it('is given up, with its memory, when it is too much of one commit or in all', () => {
    const one = new BroughtObjects();
    one.begin(table(1), 10);
    one.of(0)!.tooMany();
    one.end(0);
    expect([one.isComplete, one.of(0)]).toEqual([false, undefined]);
    const all = new BroughtObjects();
    all.begin(table(1), 10);
    const told = all.of(0)!;
    for (let n = 0; n <= 1_000_000; n++) told.object(name(1), 0, 3);
    all.end(0);
    expect([all.isComplete, all.names.count]).toEqual([false, 0]);
  });
});

it('the folders of deep files are counted no further than a filter has room', () => {
  let asked = 0;
  const paths = {
    *[Symbol.iterator]() {
      for (; asked < 10; asked++) yield `${asked}/${'d/'.repeat(MAX_CHANGES)}f`;
    },
  };
  expect(bloomFilter(paths)).toBe(ALWAYS);
  expect(asked).toBe(0);
});

import { expect, it } from 'vitest';
import { ALWAYS, bloomFilter, MAX_CHANGES } from '../../../lib/git/commit-graph/bloom.ts';
import { ChangedPaths } from '../../../lib/git/commit-graph/changed-paths.ts';
import type { SyncObjects } from '../../../lib/git/objects.ts';
import { EMPTY_TREE, type Oid } from '../../../lib/git/oid.ts';
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

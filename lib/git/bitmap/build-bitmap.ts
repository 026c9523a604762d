import { sealDerived } from '../derived.ts';
import type { DerivedBuilder } from '../maintenance/derive.ts';
import { giveWay } from '../maintenance/give-way.ts';
import { CorruptData } from '../objects.ts';
import type { Oid } from '../oid.ts';
import type { PackObjects } from '../pack/pack-objects.ts';
import type { PackStore } from '../pack/store.ts';
import type { RefDatabase } from '../ports.ts';
import { refTips } from '../ref-tips.ts';
import { peelToCommit } from '../revision.ts';
import { type Bitmap, Closures, writeBitmap } from './bitmap-file.ts';
import { Bits } from './bits.ts';
import { ClosureWalk } from './closure-walk.ts';
import { openIndex } from './open.ts';
import { Numbering, Reach } from './reach.ts';
import { CommitSelection } from './select.ts';

/** Closures of chosen commits over the merged index that is listed; none is made without one. */
export const bitmapBuilder: DerivedBuilder = {
  kind: 'bitmap',
  build: async ({ store, refs, deadline }) => {
    const opened = await openIndex(store);
    if (opened === undefined) throw new CorruptData('derived-file', 'no merged index to count in');
    const tips = await tipsOf(refs);
    const bitmap = await buildBitmap(store, tips, opened.index, deadline);
    if (bitmap === undefined) return undefined;
    return { content: sealDerived(writeBitmap(bitmap, opened.checksum)), note: opened.id };
  },
};

/**
 * Reads each commit once and each tree about once. Memory: 60 bytes for each object, 150 for each commit, and the
 * closures, which take little more than the first.
 * @param deadline milliseconds since 1970
 * @returns undefined when the time was too short
 * @throws ObjectMissing, CorruptData
 */
async function buildBitmap(
  store: PackStore,
  tips: readonly Oid[],
  index: Numbering['index'],
  deadline = Number.POSITIVE_INFINITY,
): Promise<Bitmap | undefined> {
  const size = index.count;
  const types = {
    commits: new Bits(size),
    trees: new Bits(size),
    blobs: new Bits(size),
    tags: new Bits(size),
  };
  const numbers = new Numbering(index, types);
  const advance = async (work: { advance(objects: PackObjects): boolean }, ahead = {}) => {
    while (!(await store.run((objects) => work.advance(objects), ahead))) {
      if (Date.now() > deadline) return false;
      await giveWay();
    }
    return true;
  };

  const commits = new Set<Oid>();
  let next = 0;
  await store.run((objects) => {
    for (; next < tips.length; next++) {
      const commit = peelToCommit(objects, tips[next]!)?.commit;
      if (commit !== undefined) commits.add(commit);
    }
  });
  const selection = new CommitSelection(numbers, [...commits]);
  if (!(await advance(selection, { scan: true }))) return undefined;
  const closures = new Closures(size);
  for (const number of selection.chosen()) {
    const reach = new Reach(size);
    const walk = new ClosureWalk(numbers, closures, reach, [numbers.oid(number)]);
    if (!(await advance(walk, walk))) return undefined;
    // What came after the index was made has no bit.
    if (number < size && !reach.hasOthers) closures.add(index.order[number]!, reach.bits);
  }
  // Types of what no chosen commit reaches: tags, and trees and blobs that refs name.
  const rest = new ClosureWalk(numbers, closures, new Reach(size), tips);
  return (await advance(rest, rest)) ? { types, closures } : undefined;
}

async function tipsOf(refs: RefDatabase): Promise<Oid[]> {
  return [...(await refTips((await refs.view()).refs()))];
}

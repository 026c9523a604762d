import { CorruptData } from '../corrupt-data.ts';
import { sealDerived } from '../derived.ts';
import type { DeriveContext, DerivedBuilder } from '../maintenance/derived-builder.ts';
import { giveWay } from '../maintenance/give-way.ts';
import type { Oid } from '../oid.ts';
import type { PackObjects } from '../pack/pack-objects.ts';
import type { RefDatabase } from '../ref-database.ts';
import { refTips } from '../ref-tips.ts';
import { peelToCommit } from '../revision.ts';
import { inTurns } from '../work.ts';
import { type Bitmap, Closures, writeBitmap } from './bitmap-file.ts';
import { Bits } from './bits.ts';
import { ClosureWalk } from './closure-walk.ts';
import { NumberedHistory } from './numbered-history.ts';
import { Numbering, ObjectSet } from './object-set.ts';
import { openIndex } from './open.ts';
import { CommitSelection } from './select.ts';
import { takenOver } from './taken-over.ts';

/** Builds the closures of selected commits over the current merged index; nothing without one. */
export const bitmapBuilder: DerivedBuilder = {
  kind: 'bitmap',
  build: async (context) => {
    const { store, refs } = context;
    const opened = await openIndex(store);
    if (opened === undefined) throw new CorruptData('derived-file', 'there is no merged index');
    const tips = await tipsOf(refs);
    const bitmap = await buildBitmap(context, tips, opened.index);
    if (bitmap === undefined) return undefined;
    return { content: sealDerived(writeBitmap(bitmap, opened.checksum)), note: opened.id };
  },
};

/**
 * Reads each commit once and each tree about once: none where it is known what commits bring, and else none of those that a
 * former bitmap knows. Memory: 60 bytes per object, 150 per commit, and the closures, which take little more than the first one
 * alone.
 * @returns undefined when its time ended first
 * @throws ObjectMissing, CorruptData
 */
async function buildBitmap(
  { store, stopsAt, brought, formerBitmap }: DeriveContext,
  tips: readonly Oid[],
  index: Numbering['index'],
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
      if (Date.now() > stopsAt) return false;
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
  const history = brought && NumberedHistory.of(brought, numbers, commits);
  const former = history === undefined ? await formerBitmap?.() : undefined;
  const before = former && (await inTurns(takenOver(former, numbers)));
  const selection = new CommitSelection(numbers, [...commits], { history, known: before });
  if (!(await advance(selection, { scan: true }))) return undefined;
  const closures = new Closures(size);
  const known = { get: (position: number) => closures.get(position) ?? before?.closures.get(position) };
  for (const number of selection.chosen()) {
    const reach = new ObjectSet(size);
    const walk = new ClosureWalk(numbers, known, reach, [numbers.oid(number)], { history });
    if (!(await advance(walk, walk))) return undefined;
    // Objects newer than the index have no bit.
    if (number < size && !reach.hasOthers) closures.add(index.order[number]!, reach.bits);
  }
  // Types of what no selected commit reaches: tags, and trees and blobs that refs point to.
  const rest = new ClosureWalk(numbers, known, new ObjectSet(size), tips, { history });
  if (!(await advance(rest, rest))) return undefined;
  // A tree may name as a file what is a commit or a tree: what that reaches could be missing in closures.
  const each = Object.values(types);
  if (each.some((one, i) => each.slice(i + 1).some((other) => one.meets(other))))
    throw new CorruptData('object-malformed', 'an object is named as one of two types');
  return { types, closures };
}

async function tipsOf(refs: RefDatabase): Promise<Oid[]> {
  return [...(await refTips((await refs.view()).refs()))];
}

import type { ObjectStore } from '../objects.ts';
import type { Oid } from '../oid.ts';
import { CommitReader, DateQueue } from './commits.ts';

/**
 * Whether `descendant` reaches `ancestor` over parents; a commit reaches itself.
 * Newest first from both, and over as soon as everything left is known from the ancestor's side: nothing that
 * the ancestor reaches reaches it. Dates order the walk only, so wrong clocks cost time and never the answer.
 */
export async function isAncestor(store: ObjectStore, ancestor: Oid, descendant: Oid): Promise<boolean> {
  if (ancestor === descendant) return true;
  const reader = new CommitReader(store);
  const queue = new DateQueue();
  const seen = new Set<Oid>();
  const below = new Set<Oid>();
  /** Entries of the queue that only the descendant's side knows. */
  let open = 0;
  let found = false;

  for (const oid of [descendant, ancestor]) {
    const links = await reader.links(oid);
    if (links === undefined) return false;
    queue.push(oid, links.committed);
  }
  seen.add(descendant);
  below.add(ancestor);
  open = 1;

  const expanded = new Map<Oid, boolean>();
  await reader.walk((read) => {
    const top = queue.peek();
    if (top === undefined || open === 0) return false;
    const parents = (read(top)?.parents ?? []).map((oid) => ({ oid, time: read(oid)?.committed ?? 0 }));
    queue.pop();
    const isBelow = below.has(top);
    if (expanded.get(top) === undefined || (isBelow && expanded.get(top) === false)) {
      if (!isBelow) open--;
      expanded.set(top, isBelow);
      for (const parent of parents) {
        if (isBelow) {
          if (below.has(parent.oid)) continue;
          below.add(parent.oid);
          if (seen.has(parent.oid) && !expanded.has(parent.oid)) open--;
          queue.push(parent.oid, parent.time);
        } else {
          if (parent.oid === ancestor) {
            found = true;
            return false;
          }
          if (seen.has(parent.oid) || below.has(parent.oid)) continue;
          seen.add(parent.oid);
          open++;
          queue.push(parent.oid, parent.time);
        }
      }
    }
    return true;
  });
  return found;
}

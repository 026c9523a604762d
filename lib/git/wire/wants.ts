import { DateQueue } from '../history/date-queue.ts';
import { CommitGraph, type CommitNode, Marks } from '../history/graph.ts';
import type { ObjectStore } from '../objects.ts';
import type { Oid } from '../oid.ts';
import type { Ref } from '../ports.ts';
import { inSlices } from '../slices.ts';
import { tagTarget } from './commits.ts';
import { WireError } from './error.ts';

/**
 * Lets pass what a visible ref points to, or reaches as a commit or a tag: a tip that moved between two
 * requests, and `git fetch origin <id>`. Anything else is answered as if it were not there, whether it is or
 * not: a hidden ref's commits, and what was pushed away but not yet collected.
 * @throws WireError `not-our-ref`
 */
export async function checkWants(
  store: ObjectStore,
  refs: readonly Ref[],
  wants: readonly Oid[],
): Promise<void> {
  const missing = new Set(wants);
  for (const ref of refs) {
    missing.delete(ref.oid);
    if (ref.peeled) missing.delete(ref.peeled);
  }
  if (missing.size === 0) return;
  const commits = new Set<Oid>();
  const tags = new Set<Oid>();
  for (const oid of missing) {
    if (!(await store.has(oid))) throw notOurRef(oid);
    const { type } = await store.header(oid);
    if (type === 'commit') commits.add(oid);
    else if (type === 'tag') tags.add(oid);
    else throw notOurRef(oid);
  }
  await removeTagged(store, refs, tags);
  for (const oid of tags) throw notOurRef(oid);
  await removeReached(store, refs, commits);
  for (const oid of commits) throw notOurRef(oid);
}

/** git's own words, so that its clients explain them as they do for any server. */
function notOurRef(oid: Oid): WireError {
  return new WireError('not-our-ref', `upload-pack: not our ref ${oid}`);
}

/** Takes out of `commits` what the refs reach, newest first, and stops when none is left. */
async function removeReached(store: ObjectStore, refs: readonly Ref[], commits: Set<Oid>): Promise<void> {
  const graph = new CommitGraph();
  const queue = new DateQueue();
  const seen = new Marks();
  const tips = [...new Set(refs.map((ref) => ref.peeled ?? ref.oid))];
  await inSlices(store, 2048, (objects) => {
    if (commits.size === 0) return true;
    const tip = tips.at(-1);
    if (tip !== undefined) {
      const node = objects.header(tip).type === 'commit' ? graph.node(objects, tip) : undefined;
      tips.pop();
      if (node !== undefined) enter(node);
      return false;
    }
    const top = queue.peek();
    if (top === undefined) return true;
    const parents = graph.parents(objects, top);
    queue.pop();
    for (const parent of parents) enter(parent);
    return false;
  });

  function enter(node: CommitNode): void {
    if (!seen.add(node, 1)) return;
    commits.delete(node.oid);
    queue.push(node);
  }
}

/** Takes out of `tags` what stands between a ref and the object at its end: tags of tags. */
async function removeTagged(store: ObjectStore, refs: readonly Ref[], tags: Set<Oid>): Promise<void> {
  for (const ref of refs) {
    if (tags.size === 0) return;
    let at: Oid | undefined = ref.peeled === undefined ? undefined : ref.oid;
    for (let depth = 0; at !== undefined && at !== ref.peeled && depth < 100; depth++) {
      const object = await store.read(at);
      tags.delete(at);
      at = object.type === 'tag' ? tagTarget(object.data) : undefined;
    }
  }
}

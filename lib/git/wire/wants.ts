import type { CommitNode } from '../history/commit-node.ts';
import { DateQueue } from '../history/date-queue.ts';
import { CommitGraph, Marks } from '../history/graph.ts';
import type { Oid } from '../oid.ts';
import type { PackStore } from '../pack/store.ts';
import type { Ref } from '../ports.ts';
import { type EnumerateOptions, enumerate } from '../reachable.ts';
import { peeledOid, refTips } from '../ref-tips.ts';
import { inSlices } from '../slices.ts';
import { tagTarget } from './commits.ts';
import { WireError } from './error.ts';
import type { VisibleRefs } from './visible.ts';

/**
 * Accepts wants that a visible ref points to or reaches: tips that moved between two requests, `git fetch origin <id>`,
 * and the trees and blobs that a partial clone fetches on demand. The same holds for the old values of refs that were
 * deleted or forced a moment ago: git's own server sends any existing object in version 2, so its clients do not expect
 * that an id they just saw is refused. All other objects are answered as missing, whether they exist or not: commits of
 * hidden refs, and commits that were force-pushed away and not yet collected.
 * @throws WireError `not-our-ref`
 */
export async function checkWants(store: PackStore, visible: Shown, wants: readonly Oid[]): Promise<void> {
  const unknown = new Set(wants);
  if (visible.headRef !== undefined) known(visible.headRef);
  if (unknown.size === 0) return;
  for await (const refs of visible.refs()) {
    for (const ref of refs) known(ref);
    if (unknown.size === 0) return;
  }
  const commits = new Set<Oid>();
  const tags = new Set<Oid>();
  const contents = new Set<Oid>();
  for (const oid of unknown) {
    if (!(await store.has(oid))) throw notOurRef(oid);
    const { type } = await store.header(oid);
    (type === 'commit' ? commits : type === 'tag' ? tags : contents).add(oid);
  }
  // Before any walk, because searching for a tip that was dropped would walk the whole history.
  const recentTips = commits.size + tags.size > 0 ? await visible.recentTips() : [];
  for (const ref of recentTips) for (const oid of endsOf(ref)) if (!commits.delete(oid)) tags.delete(oid);
  await removeTagged(store, visible, tags);
  for (const oid of tags) throw notOurRef(oid);
  if (commits.size > 0) {
    const tips = await refTips(visible.refs(), peeledOid);
    for (const ref of recentTips) if (await store.has(peeledOid(ref))) tips.add(peeledOid(ref));
    await removeReached(store, tips, commits);
  }
  for (const oid of commits) throw notOurRef(oid);
  if (contents.size > 0) await removeContained(store, visible, contents);
  for (const oid of contents) throw notOurRef(oid);

  function known(ref: Ref): void {
    for (const oid of endsOf(ref)) unknown.delete(oid);
  }
}

type Shown = Pick<VisibleRefs, 'refs' | 'headRef' | 'recentTips'>;

const endsOf = ({ oid, peeled }: Ref): Oid[] => (peeled === undefined ? [oid] : [oid, peeled]);

/** git's own message, which its clients recognize. */
function notOurRef(oid: Oid): WireError {
  return new WireError('not-our-ref', `upload-pack: not our ref ${oid}`);
}

/** Removes the commits that the refs reach from `commits`, walking newest first, and stops when none is left. */
async function removeReached(store: PackStore, from: ReadonlySet<Oid>, commits: Set<Oid>): Promise<void> {
  const graph = new CommitGraph();
  const queue = new DateQueue();
  const seen = new Marks();
  const tips = [...from];
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

/**
 * Removes the trees and blobs that the refs reach from `contents`. Searches the most likely places first: a partial
 * clone fetches what it checks out. The last search costs as much as a clone.
 */
async function removeContained(store: PackStore, visible: Shown, contents: Set<Oid>): Promise<void> {
  const { headRef } = visible;
  const commitsOf = await refTips(visible.refs(), peeledOid);
  const tips = [...(await refTips(visible.refs()))];
  const searches: EnumerateOptions[] = [];
  if (headRef) searches.push({ include: [headRef.oid], shallow: commitsOf });
  if (tips.length <= MANY_TIPS) searches.push({ include: tips, shallow: commitsOf });
  searches.push({ include: tips });
  for (const search of searches) {
    await remove(search);
    if (contents.size === 0) return;
  }
  const left: Oid[] = [];
  for (const { oid } of await visible.recentTips()) if (await store.has(oid)) left.push(oid);
  if (left.length > 0) await remove({ include: left, exclude: tips });

  async function remove(search: EnumerateOptions): Promise<void> {
    const list = await enumerate(store, search);
    for (const oid of list.oids()) contents.delete(oid);
  }
}

/** With more tips, their trees are a large part of the repository. */
const MANY_TIPS = 200;

/** Removes tags of tags, between a ref and its peeled object, from `tags`. */
async function removeTagged(store: PackStore, visible: Shown, tags: Set<Oid>): Promise<void> {
  if (tags.size === 0) return;
  for await (const refs of visible.refs()) {
    for (const ref of refs) {
      let at: Oid | undefined = ref.peeled === undefined ? undefined : ref.oid;
      for (let depth = 0; at !== undefined && at !== ref.peeled && depth < 100; depth++) {
        const object = await store.read(at);
        tags.delete(at);
        if (tags.size === 0) return;
        at = object.type === 'tag' ? tagTarget(object.data) : undefined;
      }
    }
  }
}

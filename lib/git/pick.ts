import type { NewObject } from './edit.ts';
import { mergeThreeTrees } from './merge/commits.ts';
import type { Labels, MergeConflict } from './merge/conflict.ts';
import type { ObjectStore } from './objects.ts';
import { EMPTY_TREE, type Oid } from './oid.ts';
import { parseCommit, parseCommitLinks } from './parse.ts';

export interface PickRequest {
  /** The commit whose change is to be applied or reverted. */
  readonly commit: Oid;
  /** The commit to apply the change to. */
  readonly onto: Oid;
  /** For a merge: the parent, counted from 1, that the change is relative to. Default 1. */
  readonly mainline?: number;
  readonly signal?: AbortSignal;
}

export type PickOutcome =
  /** `tree` is the tree for a commit on top of `onto`. */
  | { readonly kind: 'picked'; readonly tree: Oid; readonly objects: readonly NewObject[] }
  /** `onto` already has the change. */
  | { readonly kind: 'empty' }
  /** `tree` has conflict markers, as git would leave it in the working tree. */
  | {
      readonly kind: 'conflict';
      readonly tree: Oid;
      readonly objects: readonly NewObject[];
      readonly conflicts: readonly MergeConflict[];
    };

/** The commit has no such parent. */
export class NoSuchParent extends Error {
  readonly mainline: number;
  constructor(commit: Oid, mainline: number) {
    super(`commit ${commit} has no parent ${mainline}`);
    this.name = 'NoSuchParent';
    this.mainline = mainline;
  }
}

/** Applies a commit's change to another commit (`git cherry-pick`), without touching refs. @throws NoSuchParent */
export async function cherryPick(store: ObjectStore, request: PickRequest): Promise<PickOutcome> {
  const { before, after, onto, title } = await read(store, request);
  const labels = { ours: 'HEAD', theirs: title };
  return pick(store, { base: before, ours: onto, theirs: after }, labels, request.signal);
}

/** Reverts a commit's change (`git revert`), without touching refs. @throws NoSuchParent */
export async function revert(store: ObjectStore, request: PickRequest): Promise<PickOutcome> {
  const { before, after, onto, title } = await read(store, request);
  const labels = { ours: 'HEAD', theirs: `parent of ${title}` };
  return pick(store, { base: after, ours: onto, theirs: before }, labels, request.signal);
}

async function pick(
  store: ObjectStore,
  trees: { readonly base: Oid; readonly ours: Oid; readonly theirs: Oid },
  labels: Labels,
  signal?: AbortSignal,
): Promise<PickOutcome> {
  const { tree, objects, conflicts } = await mergeThreeTrees(store, trees, labels, signal);
  if (conflicts.length > 0) return { kind: 'conflict', tree, objects, conflicts };
  return tree === trees.ours ? { kind: 'empty' } : { kind: 'picked', tree, objects };
}

async function read(store: ObjectStore, { commit, onto, mainline = 1 }: PickRequest) {
  const { tree, parents, message } = await store.run((objects) => parseCommit(objects.read(commit).data));
  const parent = parents[mainline - 1];
  if (parent === undefined && (parents.length > 0 || mainline !== 1))
    throw new NoSuchParent(commit, mainline);
  return {
    before: parent === undefined ? EMPTY_TREE : await treeOf(store, parent),
    after: tree,
    onto: await treeOf(store, onto),
    title: `${commit.slice(0, 7)} (${message.split('\n', 1)[0]})`,
  };
}

function treeOf(store: ObjectStore, commit: Oid): Promise<Oid> {
  return store.run((objects) => parseCommitLinks(objects.read(commit).data).tree);
}

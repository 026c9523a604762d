import type { NewObject } from './edit.ts';
import { mergeThreeTrees } from './merge/commits.ts';
import type { Labels, MergeConflict } from './merge/conflict.ts';
import type { ObjectStore } from './objects.ts';
import { EMPTY_TREE, type Oid } from './oid.ts';
import { parseCommit, parseCommitLinks } from './parse.ts';

export interface PickRequest {
  /** The commit whose change is wanted, or not wanted any more. */
  readonly commit: Oid;
  /** The commit to put the change on. */
  readonly onto: Oid;
  /** Which parent of a merge its change is counted from, from 1. Default 1. */
  readonly mainline?: number;
  readonly signal?: AbortSignal;
}

export type PickOutcome =
  /** `tree` is what a commit upon `onto` should hold. */
  | { readonly kind: 'picked'; readonly tree: Oid; readonly objects: readonly NewObject[] }
  /** `onto` has the change already. */
  | { readonly kind: 'empty' }
  /** `tree` is what git would leave to be edited. */
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

/** Puts what a commit changed upon another: `git cherry-pick`, without touching refs. @throws NoSuchParent */
export async function cherryPick(store: ObjectStore, request: PickRequest): Promise<PickOutcome> {
  const { before, after, onto, title } = await read(store, request);
  const labels = { ours: 'HEAD', theirs: title };
  return pick(store, { base: before, ours: onto, theirs: after }, labels, request.signal);
}

/** Takes back what a commit changed: `git revert`, without touching refs. @throws NoSuchParent */
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

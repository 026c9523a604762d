import { asBuffer } from '../../bytes/as-buffer.ts';
import { patchId, patchPaths } from '../diff/patch-id.ts';
import { diffTrees, type TreeChange } from '../diff/tree-diff.ts';
import type { NewObject } from '../edit.ts';
import type { CommitNode, History, WalkBounds } from '../history.ts';
import type { ObjectStore } from '../objects.ts';
import { EMPTY_TREE, type Oid } from '../oid.ts';
import { type Commit, type Identity, parseCommit, parseCommitLinks } from '../parse.ts';
import { LimitExceeded } from '../work.ts';
import { type BuiltCommit, commitOf } from './built-commit.ts';
import { mergeOver } from './commits.ts';
import { conflictsOf, type PathConflict, type TooLarge } from './mergeability.ts';
import { Overlay } from './overlay.ts';

export interface RebaseRequest {
  /** The head of the branch. */
  readonly source: Oid;
  /** The commit to put the branch's own commits on top of. */
  readonly onto: Oid;
  /** Of the new commits. Their authors, dates of authorship and messages stay. */
  readonly committer: Identity;
  readonly bounds?: WalkBounds;
}

/** One commit of the branch was replayed. */
export interface Replayed {
  readonly commit: Oid;
  /** What it became; the same where nothing had to be changed, undefined where it was left out as empty. */
  readonly became: Oid | undefined;
  /** Commits replayed so far, and of all. */
  readonly done: number;
  readonly total: number;
}

export type RebaseOutcome =
  /** `commit` is the new head: `source` where the branch is on top of `onto` already, `onto` if it has nothing of its own. */
  | BuiltCommit
  | {
      readonly kind: 'conflict';
      /** The commit that cannot be applied. */
      readonly commit: Oid;
      readonly conflicts: readonly PathConflict[];
    }
  | TooLarge;

/** Commits that one rebase replays. */
const MAX_REPLAYED = 1_000;
/** The newest commits of the target among which those of the branch are looked for. */
const MAX_COMPARED = 5_000;
/** Bytes of the new objects. */
const MAX_BYTES = 128 * 1024 * 1024;
/** Files of a commit that is compared with others. */
const MAX_FILES = 10_000;

/**
 * `git rebase onto source`: replays the commits of the branch that are no merges, oldest first. Those that `onto` has as
 * another commit with the same patch are left out, and so are those that become empty; those that were empty stay.
 *
 * Yields after each commit. Writes nothing; a worker that stops loses what was replayed.
 *
 * @throws LimitExceeded, ObjectMissing, CorruptData
 */
export async function* rebase(
  store: ObjectStore,
  history: History,
  { source, onto, committer, bounds = {} }: RebaseRequest,
): AsyncGenerator<Replayed, RebaseOutcome> {
  const commits = await ownCommits(store, history, { source, onto, bounds });
  const overlay = new Overlay(store);
  const objects = new Map<Oid, NewObject>();
  let bytes = 0;
  let head = { commit: onto, tree: await treeOf(store, onto) };
  for (const [i, oid] of commits.entries()) {
    bounds.signal?.throwIfAborted();
    const commit = await store.run((read) => parseCommit(read.read(oid).data));
    const [parent] = commit.parents;
    let became: Oid | undefined = oid;
    if (parent === head.commit) {
      head = { commit: oid, tree: commit.tree };
    } else {
      const base = parent === undefined ? EMPTY_TREE : await treeOf(store, parent);
      const trees = { base, ours: head.tree, theirs: commit.tree };
      const merged = await mergeOver(overlay, trees, { ours: 'HEAD', theirs: oid }, bounds.signal);
      if (merged.conflicts.length > 0) {
        return { kind: 'conflict', commit: oid, conflicts: conflictsOf(merged.conflicts) };
      }
      const dropped = merged.tree === head.tree && commit.tree !== base;
      if (dropped) became = undefined;
      else {
        const built = replayed(commit, committer, head.commit, merged);
        for (const object of built.objects) {
          if (objects.has(object.oid)) continue;
          objects.set(object.oid, object);
          bytes += object.data.length;
        }
        if (bytes > MAX_BYTES) throw new LimitExceeded(`a rebase makes more than ${MAX_BYTES} bytes`);
        head = { commit: built.commit, tree: built.tree };
        became = built.commit;
      }
    }
    yield { commit: oid, became, done: i + 1, total: commits.length };
  }
  return { kind: 'built', ...head, objects: [...objects.values()] };
}

function replayed(
  { author, encoding, message, messageBytes }: Commit,
  committer: Identity,
  parent: Oid,
  { tree, objects }: { readonly tree: Oid; readonly objects: readonly NewObject[] },
): BuiltCommit {
  // As git does, in UTF-8, without signatures, without blank lines before the title, and without what follows a NUL.
  const bytes = encoding === undefined ? asBuffer(messageBytes) : Buffer.from(message);
  const end = bytes.indexOf(0);
  const whole = end < 0 ? bytes : bytes.subarray(0, end);
  const blank = /^(?:[ \t\r\v\f]*\n)*/.exec(whole.toString('latin1'))![0];
  const text = whole.subarray(blank.length);
  return commitOf({ tree, parents: [parent], author, committer, message: text }, objects);
}

/** The commits to replay, oldest first. */
async function ownCommits(
  store: ObjectStore,
  history: History,
  { source, onto, bounds }: { readonly source: Oid; readonly onto: Oid; readonly bounds: WalkBounds },
): Promise<Oid[]> {
  const own = await history.log(
    { tips: [source], exclude: [onto], order: 'topo', limit: MAX_REPLAYED + 1 },
    bounds,
  );
  if (own.length > MAX_REPLAYED) throw new LimitExceeded(`more than ${MAX_REPLAYED} commits to rebase`);
  const commits = own.filter(isNoMerge).reverse();
  if (commits.length === 0) return [];
  const others = await history.log({ tips: [onto], exclude: [source], limit: MAX_COMPARED }, bounds);
  const known = await alreadyApplied(store, commits, others.filter(isNoMerge), bounds.signal);
  return commits.map(({ oid }) => oid).filter((oid) => !known.has(oid));
}

const isNoMerge = (node: CommitNode): boolean => node.parentIds.length < 2;

/** The commits whose patch is that of one of the others. Empty commits are no one's. */
async function alreadyApplied(
  store: ObjectStore,
  commits: readonly CommitNode[],
  others: readonly CommitNode[],
  signal: AbortSignal | undefined,
): Promise<Set<Oid>> {
  const applied = new Set<Oid>();
  if (others.length === 0) return applied;
  const byPaths = new Map<string, { oid: Oid; changes: readonly TreeChange[]; id?: string }[]>();
  let most = 0;
  for (const { oid } of commits) {
    const changes = await changesOf(store, oid, MAX_FILES, signal);
    if (changes === undefined || changes.length === 0) continue;
    most = Math.max(most, changes.length);
    const paths = patchPaths(changes);
    byPaths.set(paths, [...(byPaths.get(paths) ?? []), { oid, changes }]);
  }
  for (const other of byPaths.size === 0 ? [] : others) {
    const changes = await changesOf(store, other.oid, most, signal);
    const alike = changes && byPaths.get(patchPaths(changes));
    if (!changes || !alike) continue;
    const id = await patchId(store, changes, signal);
    for (const one of alike) {
      one.id ??= await patchId(store, one.changes, signal);
      if (one.id === id) applied.add(one.oid);
    }
  }
  return applied;
}

/** @returns undefined when there are more than `limit` */
async function changesOf(
  store: ObjectStore,
  commit: Oid,
  limit: number,
  signal: AbortSignal | undefined,
): Promise<readonly TreeChange[] | undefined> {
  const { tree, parents } = await store.run((read) => parseCommitLinks(read.read(commit).data));
  const base = parents[0] === undefined ? EMPTY_TREE : await treeOf(store, parents[0]);
  const { changes, truncated } = await diffTrees(store, base, tree, { limit, ...(signal ? { signal } : {}) });
  return truncated ? undefined : changes;
}

function treeOf(store: ObjectStore, commit: Oid): Promise<Oid> {
  return store.run((read) => parseCommitLinks(read.read(commit).data).tree);
}

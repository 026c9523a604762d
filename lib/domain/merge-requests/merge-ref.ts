/**
 * The ref of a merge that is tried out: what the target branch would be if the merge request were merged. It is that of the
 * two heads that its commit has as parents; checks bring it in line with where the branches are.
 */

import type { WalkBounds } from '../../git/history.ts';
import { type Oid, ZERO_OID } from '../../git/oid.ts';
import { type Ref, RefConflict } from '../../git/ports.ts';
import type { RefName } from '../../git/refname.ts';
import type { GitRepository } from '../../git/repository.ts';
import type { MergeRequestRecord, MergeVerdict } from '../../records/merge-requests.ts';
import { TransactionRefused } from '../../store/errors.ts';
import { readingAnew } from '../../store/table/read-once.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { conflict, refused } from '../errors.ts';
import { identityOf } from '../repository/identity.ts';
import { codeOf } from '../repository/read.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';
import { mergeRequestAsItIs } from './as-it-is.ts';
import { currentVerdict } from './merge-status.ts';

/** The merge of a merge request in the repository of its target, which `git fetch` gets. */
export const mergeRef = (iid: number): RefName => `refs/merge-requests/${iid}/merge` as RefName;

/**
 * Lets `refs/merge-requests/<iid>/merge` point to a merge of both heads as they are now; the target branch stays.
 * @returns the commit: the one that is there, if its parents are these heads
 * @throws `404 Not found`; 400 where they cannot be merged; 409 while others keep moving them
 */
export async function writeMergeRef(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  iid: number,
): Promise<string> {
  const attempt = async (): Promise<Oid> => {
    const before = await readMergeRef(deps, access, iid);
    const { mergeRequest: record, situation } = await mergeRequestAsItIs(deps, actor, access, iid);
    const verdict = currentVerdict({ record, targetSha: situation.heads.targetSha });
    const merge = await writtenMerge(deps, access, { record, verdict, before });
    if (merge === undefined) throw refused('Merge request is not mergeable');
    return merge;
  };
  try {
    return await retryOnConflict(attempt, lostMergeRef);
  } catch (error) {
    throw lostMergeRef(error) ? conflict('409 Conflict: Resource lock') : error;
  }
}

/** Another writer was first, perhaps the first of all, or has deleted the merge request. */
export const lostMergeRef = (error: unknown): boolean =>
  (error instanceof TransactionRefused && error.has('source')) ||
  (error instanceof RefConflict &&
    error.rejections.every(
      ({ reason }) => reason === 'stale' || reason === 'exists' || reason === 'collected',
    ));

/** The repository, and the ref as it was when it was opened. */
interface Before {
  readonly git: GitRepository;
  readonly written: Ref | undefined;
}

export async function readMergeRef(deps: Deps, access: ProjectAccess, iid: number): Promise<Before> {
  const writes = [deps.store.mergeRequests.isThere({ projectId: access.project.id, iid })];
  const git = codeOf(deps, access, undefined, { writes, quiet: true });
  // As a request reads that writes, though it is one that reads.
  return { git, written: await readingAnew(() => git.ref(mergeRef(iid))) };
}

interface Tried {
  readonly record: MergeRequestRecord;
  /** On its heads of now. */
  readonly verdict: MergeVerdict | undefined;
  /** Read before these heads: who read them later may have written a later merge, which then stays. */
  readonly before: Before;
}

/**
 * Writes the merge of the heads that a verdict is on, as the author of the merge request.
 * @returns its commit: the one that is there, if its parents are these heads; undefined where they are not to be merged
 * @throws RefConflict
 */
export async function writtenMerge(
  deps: Deps,
  access: ProjectAccess,
  { record, verdict, before: { git, written } }: Tried,
  bounds: WalkBounds = {},
): Promise<Oid | undefined> {
  if (record.state !== 'opened' || access.project.archived || verdict?.mergeable !== true) return undefined;
  const [target, head] = [verdict.targetSha as Oid, verdict.headSha as Oid];
  if (written !== undefined) {
    const [commit] = await git.log({ tips: [written.oid], limit: 1 });
    const parents = commit?.parents ?? [];
    if (parents.length === 2 && parents[0] === target && parents[1] === head) return written.oid;
  }
  const [author, merging] = await Promise.all([deps.store.users.get(record.author.id), git.merging()]);
  if (author === undefined) return undefined;
  const by = identityOf(author, deps.now());
  const message = `Merge ${head} into ${target}`;
  const built = await merging.mergeCommit(target, head, { author: by, committer: by, message }, bounds);
  if (built.kind !== 'built') return undefined;
  const update = {
    name: mergeRef(record.iid),
    from: written?.oid ?? ZERO_OID,
    to: built.commit,
    forced: written !== undefined,
    committed: by.seconds,
  };
  await git.publish(built.objects, [update], { uses: [target, head] });
  return built.commit;
}

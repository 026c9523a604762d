/** Commits that a merge request names because its changes are understood with them: they are no part of it. */

import { type Oid, parseOid } from '../../git/oid.ts';
import type { CommitRecord, GitRepository } from '../../git/repository.ts';
import { MAX_CONTEXT_COMMITS, type MergeRequestRecord } from '../../records/merge-requests.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import { pinCommits } from '../commits/pin.ts';
import type { Deps } from '../deps.ts';
import { forbidden, refused } from '../errors.ts';
import { codeOf } from '../repository/read.ts';
import { changeMergeRequest } from './change.ts';
import { getMergeRequest } from './find.ts';
import { mayUpdate } from './merge-requests.ts';

/** Commits that one request adds or takes away. */
const MAX_AT_ONCE = 20;

/** Returns those of a merge request, at most {@link MAX_CONTEXT_COMMITS}, the newest first. */
export async function contextCommits(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  iid: number,
): Promise<CommitRecord[]> {
  const { mergeRequest } = await getMergeRequest(deps, actor, access, iid);
  const shas = mergeRequest.contextCommits ?? [];
  if (shas.length === 0) return [];
  const commits = await codeOf(deps, access).commits(shas as readonly Oid[]);
  return commits.toSorted((a, b) => b.committer.seconds - a.committer.seconds);
}

/**
 * Adds commits of the repository of the target, which are kept for good.
 * @returns those that were added
 * @throws `404 Not found`, 403; 400 for more than 20 at once, for what is no commit or is there already, and where it
 *   would have too many; 409 when others keep changing it
 */
export async function addContextCommits(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  iid: number,
  shas: readonly string[],
): Promise<CommitRecord[]> {
  const { mergeRequest } = await getMergeRequest(deps, actor, access, iid);
  requireUpdate(actor, access, mergeRequest);
  requireFew(shas);
  requireNew(mergeRequest, shas);
  const git = codeOf(deps, access);
  const commits = await Promise.all(shas.map((sha) => commitOf(git, sha)));
  await pinCommits(deps, access.project, commits, (pins) =>
    changeMergeRequest(
      deps,
      actor,
      access,
      iid,
      (before) => {
        requireUpdate(actor, access, before);
        requireNew(before, commits);
        const after = [...(before.contextCommits ?? []), ...commits];
        if (after.length > MAX_CONTEXT_COMMITS)
          throw refused(`A merge request has at most ${MAX_CONTEXT_COMMITS} context commits`);
        return { contextCommits: after, updatedAt: deps.now().toISOString() };
      },
      { alongside: pins },
    ),
  );
  return git.commits(commits);
}

/** @throws `404 Not found`, 403, 400 for what is none of its context commits, 409 when others keep changing it */
export async function removeContextCommits(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  iid: number,
  shas: readonly string[],
): Promise<void> {
  const named = new Set(shas.map((sha) => sha.toLowerCase()));
  await changeMergeRequest(deps, actor, access, iid, (before) => {
    requireUpdate(actor, access, before);
    const kept = (before.contextCommits ?? []).filter((sha) => !named.has(sha));
    if (kept.length + named.size !== (before.contextCommits ?? []).length) throw refused(INVALID);
    return { contextCommits: kept, updatedAt: deps.now().toISOString() };
  });
}

const INVALID = "One or more context commits' sha is not valid.";

function requireUpdate(actor: Actor, access: ProjectAccess, record: MergeRequestRecord): void {
  if (!mayUpdate(actor, access, record)) throw forbidden();
}

function requireFew(shas: readonly string[]): void {
  if (shas.length > MAX_AT_ONCE)
    throw refused(`Context commits array size should not be more than ${MAX_AT_ONCE}`);
}

/** @throws 400 naming those that it has, and those given twice */
function requireNew({ contextCommits: present = [] }: MergeRequestRecord, shas: readonly string[]): void {
  const given = shas.map((sha) => sha.toLowerCase());
  const repeated = given.filter((sha, i) => present.includes(sha) || given.indexOf(sha) < i);
  if (repeated.length > 0) throw refused(`Context commits: ${JSON.stringify(repeated)} are already created`);
}

/** @param sha a whole id. @throws 400 */
async function commitOf(git: GitRepository, sha: string): Promise<Oid> {
  const oid = parseOid(sha.toLowerCase());
  const found = oid && (await git.resolve(oid));
  if (found?.commit !== oid || oid === undefined) throw refused(INVALID);
  return oid;
}

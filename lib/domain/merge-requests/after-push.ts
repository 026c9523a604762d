/**
 * What a push does to open merge requests: those of its branches get a version, those whose commits it brings are merged,
 * others to the same target are checked.
 */

import { CorruptData } from '../../git/corrupt-data.ts';
import type { CommitNode } from '../../git/history/commit-node.ts';
import { HistoryLimit } from '../../git/history.ts';
import { ObjectMissing } from '../../git/objects.ts';
import { type Oid, ZERO_OID } from '../../git/oid.ts';
import { type RefName, shortName } from '../../git/refname.ts';
import { LimitExceeded } from '../../git/work.ts';
import type { MergeRequestRecord } from '../../records/merge-requests.ts';
import type { PushedBranch, Writer } from '../../store/notes/mentions.ts';
import { mapLimit } from '../../store/table/map-limit.ts';
import { can } from '../access/permissions.ts';
import { projectAccesses } from '../access/project-accesses.ts';
import type { ProjectAccess } from '../access/types.ts';
import { type Actor, actingFor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { DomainError } from '../errors.ts';
import { codeOf } from '../repository/read.ts';
import { changeMergeRequest } from './change.ts';
import { listMergeRequests } from './list.ts';
import { askForCheck } from './mergeability.ts';
import { refreshMergeRequest } from './refresh.ts';
import type { FoundMergeRequest } from './related.ts';

/** Open merge requests of one branch that are looked at: the newest of those to it. */
const MAX_OPEN = 100;
/** New commits of a branch by which older merge requests to it are found: the newest. */
const MAX_LOOKED_UP = 100;
/** Commits that are looked up at the same time. */
const LOOKED_UP_AT_ONCE = 10;
/** Of these, the newest that are checked at once against what their target has become; the others when they are looked at. */
const MAX_CHECKED = 20;
/** New commits of a branch among which heads are looked for: the newest. */
const MAX_COMMITS = 10_000;
/** Commits visited to find these. */
const MAX_VISITED = 300_000;

/** @param deadline milliseconds since 1970. @returns whether it came to the end; it may run again */
export async function followPush(
  deps: Deps,
  {
    projectId,
    branches,
    actorId,
    baseUrl,
  }: Writer & { readonly projectId: number; readonly branches: readonly PushedBranch[] },
  deadline: number,
): Promise<boolean> {
  const user = actorId === null ? undefined : await deps.store.users.get(actorId);
  if (user === undefined) return true;
  const actor = actingFor(user, baseUrl);
  for (const { name } of branches) {
    const branch = shortName(name as RefName);
    const open = await deps.store.mergeRequests.openFrom({ projectId, branch }, MAX_OPEN);
    for (const { projectId: into, iid } of open) {
      if (Date.now() > deadline) return false;
      await refreshMergeRequest(deps, { projectId: into, iid, userId: user.id, baseUrl });
    }
  }
  const [access] = await projectAccesses(deps, actor, [projectId]);
  if (access === undefined || !can(actor, access, 'read_merge_requests')) return true;
  for (const branch of branches) {
    if (Date.now() > deadline) return false;
    await markMerged(deps, actor, access, branch);
  }
  return true;
}

/** Marks those merged whose heads a push brought to their target branch, and lets others be checked against it. */
async function markMerged(
  deps: Deps,
  actor: Extract<Actor, { kind: 'user' }>,
  access: ProjectAccess,
  branch: PushedBranch,
): Promise<void> {
  if (branch.from === ZERO_OID) return;
  const input = {
    scope: { kind: 'project', access },
    state: 'opened',
    targetBranch: shortName(branch.name as RefName),
  } as const;
  const page = { page: 1, perPage: MAX_OPEN, count: false, order: 'created_at', direction: 'desc' } as const;
  const { items, more } = await listMergeRequests(deps, actor, input, page);
  if (items.length === 0) return;
  const commits = await newCommits(deps, access, branch);
  const older = more ? await olderWith(deps, actor, access, input.targetBranch, commits) : [];
  const known = new Set(items.map(({ mergeRequest }) => mergeRequest.id));
  let checks = 0;
  for (const { mergeRequest } of [...items, ...older.filter(({ mergeRequest: { id } }) => !known.has(id))]) {
    const { headSha } = mergeRequest.diff;
    if (!commits.some(({ oid }) => oid === headSha)) {
      if (checks++ < MAX_CHECKED) await askForCheck(deps, mergeRequest, branch.to as Oid);
      continue;
    }
    const mergeCommit = commits.find(({ parentIds }) => parentIds.slice(1).includes(headSha as Oid));
    await markOne(deps, actor, access, mergeRequest, mergeCommit?.oid ?? null);
  }
}

/** Open merge requests to a branch that have one of the newest commits, however many others are newer. */
async function olderWith(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  targetBranch: string,
  commits: readonly CommitNode[],
): Promise<FoundMergeRequest[]> {
  const page = { page: 1, perPage: MAX_OPEN, count: false, order: 'created_at', direction: 'desc' } as const;
  const scope = { kind: 'project', access } as const;
  const found = new Map<number, FoundMergeRequest>();
  await mapLimit(LOOKED_UP_AT_ONCE, commits.slice(0, MAX_LOOKED_UP), async ({ oid }) => {
    const { items } = await listMergeRequests(deps, actor, { scope, state: 'opened', commitSha: oid }, page);
    for (const each of items)
      if (each.mergeRequest.targetBranch === targetBranch) found.set(each.mergeRequest.id, each);
  });
  return [...found.values()];
}

async function markOne(
  deps: Deps,
  actor: Extract<Actor, { kind: 'user' }>,
  access: ProjectAccess,
  { iid, diff, targetBranch }: MergeRequestRecord,
  mergeCommitSha: Oid | null,
): Promise<void> {
  const at = deps.now().toISOString();
  const merged = {
    state: 'merged',
    mergedAt: at,
    mergedById: actor.user.id,
    mergeCommitSha,
    mergeError: null,
    autoMerge: null,
    updatedAt: at,
  } as const;
  try {
    await changeMergeRequest(deps, actor, access, iid, (before) => {
      const same = before.diff.headSha === diff.headSha && before.targetBranch === targetBranch;
      if (before.state !== 'opened' || !same) throw new Moved();
      return merged;
    });
  } catch (error) {
    const isGone = error instanceof DomainError && error.code === 'not-found';
    if (!(error instanceof Moved) && !isGone) throw error;
  }
}

/** It has been merged, closed or changed meanwhile. */
class Moved extends Error {
  override readonly name = 'Moved';
}

/** None where the history is damaged, or was replaced meanwhile. */
async function newCommits(
  deps: Deps,
  access: ProjectAccess,
  { from, to }: PushedBranch,
): Promise<CommitNode[]> {
  const range = { tips: [to as Oid], exclude: [from as Oid], limit: MAX_COMMITS };
  try {
    return await codeOf(deps, access).history.log(range, { maxCommits: MAX_VISITED });
  } catch (error) {
    const isBeyond = error instanceof HistoryLimit || error instanceof LimitExceeded;
    if (isBeyond || error instanceof ObjectMissing || error instanceof CorruptData) return [];
    throw error;
  }
}

/**
 * What a push does to open merge requests: those of its branches get a version, those whose commits it brings are merged,
 * others to the same target are checked, and those whose branches it deletes are closed.
 */

import type { CommitNode } from '../../git/history/commit-node.ts';
import { type Oid, ZERO_OID } from '../../git/oid.ts';
import { type RefName, shortName } from '../../git/refname.ts';
import type {
  ListedMergeRequest,
  MergeRequestAddress,
  MergeRequestRecord,
} from '../../records/merge-requests.ts';
import { rangesOfCommit } from '../../store/merge-requests/kind.ts';
import type { PushedBranch, Writer } from '../../store/notes/mentions.ts';
import { can } from '../access/permissions.ts';
import { projectAccesses } from '../access/project-accesses.ts';
import type { ProjectAccess } from '../access/types.ts';
import { type Actor, actingFor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { codeOf } from '../repository/read.ts';
import { changeMergeRequest } from './change.ts';
import { closeUnlessBrought, MAX_VISITED, Moved, unlessBeyond, unlessMoved } from './close.ts';
import { listMergeRequests } from './list.ts';
import { mayUpdate } from './merge-requests.ts';
import { askForCheck, headsOf } from './mergeability.ts';
import { followedBy } from './refresh.ts';

/** Open merge requests of one branch that are looked at: the newest of those to it. */
const MAX_OPEN = 100;
/** New commits of a branch by which older merge requests to it are found, at the same time. */
const LOOKED_UP_AT_ONCE = 50;
/** Of the open ones, the newest that are checked at once against what their target has become; the others when they are looked at. */
const MAX_CHECKED = 20;
/** New commits of a branch among which heads are looked for: the newest. */
const MAX_COMMITS = 10_000;

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
  const ofEach = async (
    pushed: readonly PushedBranch[],
    follow: (each: MergeRequestAddress, push: PushedBranch) => Promise<void>,
  ): Promise<boolean> => {
    for (const push of pushed) {
      const branch = shortName(push.name as RefName);
      const open = await deps.store.mergeRequests.openFrom({ projectId, branch }, MAX_OPEN);
      for (const { projectId: into, iid } of open) {
        if (Date.now() > deadline) return false;
        await follow({ projectId: into, iid }, push);
      }
    }
    return true;
  };
  const moved = branches.filter(({ to }) => to !== ZERO_OID);
  const refresh = (each: MergeRequestAddress, push: PushedBranch) =>
    followedBy(deps, { ...each, push, userId: user.id, baseUrl });
  if (!(await ofEach(moved, refresh))) return false;
  const [access] = await projectAccesses(deps, actor, [projectId]);
  if (access !== undefined && can(actor, access, 'read_merge_requests'))
    for (const branch of moved) {
      if (Date.now() > deadline) return false;
      if (!(await markMerged(deps, actor, access, branch, deadline))) return false;
    }
  // Last: what the same push brought to its target is merged.
  const deleted = branches.filter(({ to }) => to === ZERO_OID);
  return ofEach(deleted, (each) => closeWithoutSource(deps, actor, each));
}

/**
 * Closes a merge request whose source branch is gone, as who deleted that, if they may. One whose head the target has by
 * now stays: the push that brought it merges it.
 */
async function closeWithoutSource(
  deps: Deps,
  actor: Extract<Actor, { kind: 'user' }>,
  address: MergeRequestAddress,
): Promise<void> {
  const [record, [access]] = await Promise.all([
    deps.store.mergeRequests.get(address),
    projectAccesses(deps, actor, [address.projectId]),
  ]);
  if (record?.state !== 'opened' || access === undefined || !mayUpdate(actor, access, record)) return;
  const heads = await headsOf(deps, access, record);
  if (heads.sourceSha !== undefined) return;
  const text = `deleted source branch \`${record.source.branch}\``;
  await closeUnlessBrought(deps, actor, access, { record, heads, notes: [{ action: 'branch', text }] });
}

/**
 * Marks those merged whose heads a push brought to their target branch, and lets others be checked against it.
 * @returns whether it came to the end
 */
async function markMerged(
  deps: Deps,
  actor: Extract<Actor, { kind: 'user' }>,
  access: ProjectAccess,
  branch: PushedBranch,
  deadline: number,
): Promise<boolean> {
  if (branch.from === ZERO_OID) return true;
  const input = {
    scope: { kind: 'project', access },
    state: 'opened',
    targetBranch: shortName(branch.name as RefName),
  } as const;
  const page = { page: 1, perPage: MAX_OPEN, count: false, order: 'created_at', direction: 'desc' } as const;
  const { items, more } = await listMergeRequests(deps, actor, input, page);
  if (items.length === 0) return true;
  const commits = await newCommits(deps, access, branch);
  const newest = items.map(({ mergeRequest }) => mergeRequest);
  const known = new Set(newest.map(({ id }) => id));
  const isNew = new Set<string>(commits.map(({ oid }) => oid));
  for (const record of newest.filter(({ diff }) => !isNew.has(diff.headSha)).slice(0, MAX_CHECKED))
    await askForCheck(deps, record, branch.to as Oid);
  const mark = async (record: ListedMergeRequest) => {
    const { headSha } = record.diff;
    const mergeCommit = commits.find(({ parentIds }) => parentIds.slice(1).includes(headSha as Oid));
    await markOne(deps, actor, access, record, mergeCommit?.oid ?? null);
  };
  for (const record of newest.filter(({ diff }) => isNew.has(diff.headSha))) {
    if (Date.now() > deadline) return false;
    await mark(record);
  }
  for (let from = 0; more && from < commits.length; from += LOOKED_UP_AT_ONCE) {
    const shas = commits.slice(from, from + LOOKED_UP_AT_ONCE).map(({ oid }) => oid);
    const older = await olderAt(deps, access, input.targetBranch, shas);
    for (const record of older.filter(({ id }) => !known.has(id))) {
      if (Date.now() > deadline) return false;
      await mark(record);
    }
  }
  return true;
}

/** Open merge requests to a branch whose head is one of some commits, however many others are newer. */
async function olderAt(
  { store }: Deps,
  { project }: ProjectAccess,
  targetBranch: string,
  shas: readonly Oid[],
): Promise<readonly MergeRequestRecord[]> {
  const heads = new Set<string>(shas);
  const { items } = await store.mergeRequestList.page({
    sources: [shas.flatMap((sha) => rangesOfCommit(project.id, sha))],
    matches: async (records) =>
      records.map(
        (record) =>
          record.state === 'opened' && record.targetBranch === targetBranch && heads.has(record.diff.headSha),
      ),
    direction: 'desc',
    page: 1,
    perPage: MAX_OPEN,
  });
  return items;
}

async function markOne(
  deps: Deps,
  actor: Extract<Actor, { kind: 'user' }>,
  access: ProjectAccess,
  { iid, diff, targetBranch }: ListedMergeRequest,
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
  await changeMergeRequest(deps, actor, access, iid, (before) => {
    const same = before.diff.headSha === diff.headSha && before.targetBranch === targetBranch;
    if (before.state !== 'opened' || !same) throw new Moved();
    return merged;
  }).catch(unlessMoved);
}

/** None where the history is damaged, or was replaced meanwhile. */
async function newCommits(
  deps: Deps,
  access: ProjectAccess,
  { from, to }: PushedBranch,
): Promise<CommitNode[]> {
  const range = { tips: [to as Oid], exclude: [from as Oid], limit: MAX_COMMITS };
  const found = codeOf(deps, access).history.log(range, { maxCommits: MAX_VISITED });
  return (await unlessBeyond(found)) ?? [];
}

/** Brings merge requests in line with their source branches. */

import { ObjectMissing } from '../../git/objects.ts';
import type { Oid } from '../../git/oid.ts';
import { RefConflict } from '../../git/ports.ts';
import type { GitRepository } from '../../git/repository.ts';
import type { DiffVersion, MergeRequestFields, MergeRequestRecord } from '../../records/merge-requests.ts';
import type { SystemNote } from '../../records/notes.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { PushedBranch } from '../../store/notes/mentions.ts';
import { projectAccesses } from '../access/project-accesses.ts';
import type { ProjectAccess } from '../access/types.ts';
import { type Actor, actingFor } from '../actor.ts';
import { approvalSettings } from '../approvals/settings.ts';
import { approvalsAfterPush } from '../approvals/state.ts';
import type { Owned } from '../code-owners/owned-files.ts';
import type { Deps } from '../deps.ts';
import { hasAccess } from '../refs/rule-grants.ts';
import { bounded, codeOf } from '../repository/read.ts';
import { changeMergeRequest } from './change.ts';
import { type Heads, headsOf } from './mergeability.ts';
import { commitVersion, gitOf, proposalOf, type Sides } from './versions.ts';

/** Milliseconds in which the code owners of a push are found; later it takes back every approval. */
const FINDING_OWNERS_MS = 5_000;
/** New commits that a note names: the newest. */
const MAX_NAMED = 100;

/**
 * The merge request with the head that its source branch has now, as its next version; as it is where the branch is gone
 * or has not moved, or the merge request is not open.
 * @param actor who is told to have added the commits: who pushed them, else who asked
 * @param heads where its branches are, if that was read after the record
 */
export async function refreshed(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  record: MergeRequestRecord,
  heads?: Heads,
): Promise<MergeRequestRecord> {
  if (record.state !== 'opened') return record;
  const { targetSha, sourceSha } = heads ?? (await headsOf(deps, access, record));
  if (sourceSha === undefined || targetSha === undefined || sourceSha === record.diff.headSha) return record;
  const source =
    record.source.projectId === access.project.id
      ? access.project
      : await deps.store.projects.get(record.source.projectId);
  if (source === undefined) return record;
  const sides: Sides = { target: access, source: { project: source, level: 0 } };
  const [proposed, id, approvalsAfter] = await Promise.all([
    proposalOf(deps, sides, sourceSha, targetSha),
    deps.store.mergeRequests.nextVersionId(),
    approvalsOf(deps, sides, record, { sourceSha, targetSha }),
  ]);
  const at = deps.now().toISOString();
  let after: DiffVersion;
  const change = (before: MergeRequestRecord): Partial<MergeRequestFields> => {
    if (before.diff.id !== record.diff.id || before.state !== 'opened') throw new Refreshed();
    after = { ...proposed, id, number: before.diff.number + 1, createdAt: at };
    return {
      diff: after,
      approvals: approvalsAfter(before),
      autoMerge: null,
      mergeError: null,
      updatedAt: at,
    };
  };
  const notes = await newCommits(codeOf(deps, sides.source), record, { sourceSha, targetSha });
  try {
    return await changeMergeRequest(deps, actor, access, record.iid, change, {
      notes: [...notes, ...(record.autoMerge === null ? [] : [ABORTED])],
      within: (writes, before) => commitVersion(deps, sides, before, { before: before.diff, after }, writes),
    });
  } catch (error) {
    // Another writer was first, or the branch is too large to be copied: it stays as it is.
    if (error instanceof Refreshed || error instanceof RefConflict) return current(deps, record);
    if (error instanceof ObjectMissing) return record;
    throw error;
  }
}

class Refreshed extends Error {
  constructor() {
    super('another writer has made the next version');
    this.name = 'Refreshed';
  }
}

const ABORTED: SystemNote = {
  action: 'merge',
  text: 'aborted the automatic merge because source branch was updated',
};

const current = async (deps: Deps, record: MergeRequestRecord): Promise<MergeRequestRecord> =>
  (await deps.store.mergeRequests.get(record)) ?? record;

/** The approvals that stay when the head moves, of those that there are then. */
async function approvalsOf(
  deps: Deps,
  sides: Sides,
  record: MergeRequestRecord,
  { sourceSha, targetSha }: { readonly sourceSha: Oid; readonly targetSha: Oid },
): Promise<(before: MergeRequestFields) => MergeRequestFields['approvals']> {
  if (record.approvals.length === 0) return ({ approvals }) => approvals;
  const settings = await approvalSettings(deps, sides.target);
  if (!settings.retain_approvals_on_push || !settings.selective_code_owner_removals)
    return (before) => approvalsAfterPush(settings, before);
  const change = { target: targetSha, bases: [record.diff.headSha as Oid], head: sourceSha };
  const { project } = sides.target;
  const signal = AbortSignal.timeout(FINDING_OWNERS_MS);
  const { ownersOfChange } = await import('../code-owners/owned-files.ts');
  const owned = await ownersOfChange(deps, project, gitOf(deps, sides), change, signal).catch(
    (error: unknown) => {
      if (signal.aborted) return undefined;
      throw error;
    },
  );
  if (owned === undefined || owned.some(({ unknown }) => unknown)) return () => [];
  const given = new Set(record.approvals.map(({ userId }) => userId));
  const owners = await ownersAmong(deps, project, record.approvals, owned);
  return ({ approvals }) => approvals.filter(({ userId }) => given.has(userId) && !owners.has(userId));
}

async function ownersAmong(
  deps: Deps,
  project: ProjectRecord,
  approvals: MergeRequestFields['approvals'],
  owned: readonly Owned[],
): Promise<ReadonlySet<number>> {
  const owners = new Set(owned.flatMap(({ userIds }) => userIds));
  const groupIds = new Set(owned.flatMap(({ groupIds }) => groupIds));
  const sources = [...groupIds].flatMap((id) =>
    hasAccess(project, id, deps.now()) ? [{ kind: 'group', id } as const] : [],
  );
  if (sources.length === 0) return owners;
  const found = approvals.map(async ({ userId }) => {
    const memberships = await deps.store.members.ofUserIn(userId, sources);
    if (memberships.some((each) => each !== undefined)) owners.add(userId);
  });
  await Promise.all(found);
  return owners;
}

async function newCommits(
  git: GitRepository,
  { diff }: MergeRequestRecord,
  { sourceSha, targetSha }: { readonly sourceSha: Oid; readonly targetSha: Oid },
): Promise<SystemNote[]> {
  const exclude = [diff.headSha as Oid, targetSha];
  const present = await Promise.all(exclude.map(async (oid) => ((await git.resolve(oid)) ? [oid] : [])));
  const commits = await bounded(() =>
    git.history.log({ tips: [sourceSha], exclude: present.flat(), limit: MAX_NAMED + 1 }),
  );
  if (commits.length === 0) return [];
  const count = commits.length > MAX_NAMED ? `more than ${MAX_NAMED}` : String(commits.length);
  const names = commits.slice(0, MAX_NAMED).map(({ oid }) => `* ${oid.slice(0, 8)}`);
  const text = `added ${count} commit${commits.length === 1 ? '' : 's'}\n\n${names.join('\n')}`;
  return [{ action: 'commit', text }];
}

/** What one push did to a source branch. */
interface PushedTo {
  readonly projectId: number;
  readonly iid: number;
  readonly push: PushedBranch;
  /** Who pushed. */
  readonly userId: number;
  readonly baseUrl: string;
}

/** Makes the version of a push, also where later ones have moved the branch on by now, and brings it in line with these. */
export async function followedBy(
  deps: Deps,
  { projectId, iid, push, userId, baseUrl }: PushedTo,
): Promise<void> {
  const [user, record] = await Promise.all([
    deps.store.users.get(userId),
    deps.store.mergeRequests.get({ projectId, iid }),
  ]);
  if (user === undefined || record === undefined) return;
  const actor = actingFor(user, baseUrl);
  const [access] = await projectAccesses(deps, actor, [projectId]);
  if (access === undefined) return;
  const heads = await headsOf(deps, access, record);
  const isPushedOver = record.diff.headSha === push.from && heads.sourceSha !== push.to;
  const pushed = isPushedOver
    ? await refreshed(deps, actor, access, record, { ...heads, sourceSha: push.to as Oid })
    : record;
  await refreshed(deps, actor, access, pushed, heads);
}

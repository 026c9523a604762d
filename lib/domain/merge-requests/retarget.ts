/** Merge requests to a branch that was merged and removed: they go to the branch that it was merged into. */

import { RefConflict } from '../../git/ports.ts';
import type { MergeRequestRecord } from '../../records/merge-requests.ts';
import { projectAccesses } from '../access/project-accesses.ts';
import type { ProjectAccess } from '../access/types.ts';
import { type Actor, actingFor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { DomainError } from '../errors.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';
import { tipOf } from './branch-tip.ts';
import { changeMergeRequest } from './change.ts';
import { Moved, unlessMoved } from './close.ts';
import { mayUpdate, retargeting } from './merge-requests.ts';

interface Chained {
  readonly projectId: number;
  /** Of those to the removed branch. */
  readonly iids: readonly number[];
  /** The removed branch, and what it was merged into. */
  readonly branch: string;
  readonly targetBranch: string;
  readonly actorId: number;
  readonly baseUrl: string;
}

/** Retargets them as who merged, if they may. A branch that is there again by then changes nothing. It may run twice. */
export async function retargetChained(
  deps: Deps,
  { projectId, iids, branch, targetBranch, actorId, baseUrl }: Chained,
): Promise<void> {
  const user = await deps.store.users.get(actorId);
  if (user === undefined) return;
  const actor = actingFor(user, baseUrl);
  const [access] = await projectAccesses(deps, actor, [projectId]);
  if (access === undefined || (await tipOf(deps, access, branch)) !== undefined) return;
  let busy: unknown;
  for (const iid of iids) {
    const attempt = () => retarget(deps, actor, access, iid, { branch, targetBranch });
    await retryOnConflict(attempt, isBusy).catch((error: unknown) => {
      // The others do not wait for it.
      if (isBusy(error)) busy = error;
      // It cannot go there: it is from that branch, or another one of its branch is open to it.
      else if (!(error instanceof DomainError)) throw error;
    });
  }
  if (busy !== undefined) throw busy;
}

/** Others kept changing it, or a branch has moved. */
const isBusy = (error: unknown): boolean =>
  error instanceof RefConflict ||
  (error instanceof DomainError && error.text === '409 Conflict: Resource lock');

async function retarget(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  iid: number,
  { branch, targetBranch }: Pick<Chained, 'branch' | 'targetBranch'>,
): Promise<void> {
  const record = await deps.store.mergeRequests.get({ projectId: access.project.id, iid });
  if (record?.state !== 'opened' || record.targetBranch !== branch) return;
  if (!mayUpdate(actor, access, record)) return;
  const retargeted = await retargeting(deps, access, record, targetBranch);
  if (retargeted === undefined) return;
  const change = (before: MergeRequestRecord) => {
    if (before.state !== 'opened' || before.targetBranch !== branch) throw new Moved();
    return { ...retargeted.change(before), updatedAt: deps.now().toISOString() };
  };
  const text = `deleted the \`${branch}\` branch. This merge request now targets the \`${targetBranch}\` branch`;
  await changeMergeRequest(deps, actor, access, iid, change, {
    notes: [{ action: 'target_branch', text }],
    within: retargeted.commit,
  }).catch(unlessMoved);
}

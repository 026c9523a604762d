/** Merge requests, made by the rules that make them. */

import { deps } from '../../functions/deps.ts';
import { MembershipCache } from '../../lib/domain/access/effective-level.ts';
import { projectAccess } from '../../lib/domain/access/open-request.ts';
import { actingFor } from '../../lib/domain/actor.ts';
import { createMergeRequest, updateMergeRequest } from '../../lib/domain/merge-requests/merge-requests.ts';

/** Proposes a branch of a project to be merged into another of it. @returns the number of the merge request */
export async function propose(
  userId: number,
  projectId: number,
  branches: { readonly sourceBranch: string; readonly targetBranch: string },
): Promise<number> {
  const { actor, access } = await acting(userId, projectId);
  const input = { title: branches.sourceBranch, ...branches };
  return (await createMergeRequest(deps(), actor, access, input)).mergeRequest.iid;
}

/** Closes a merge request. */
export async function closeProposal(userId: number, projectId: number, iid: number): Promise<void> {
  const { actor, access } = await acting(userId, projectId);
  await updateMergeRequest(deps(), actor, access, iid, { stateEvent: 'close' });
}

/** What is noted on a merge request, oldest first, with the names of those who did it. */
export async function notedOn(projectId: number, iid: number): Promise<(readonly [string, string])[]> {
  const { mergeRequests, notes } = deps().store;
  const { id } = (await mergeRequests.get({ projectId, iid }))!;
  const request = { page: 1, perPage: 100, count: false };
  const { items } = await notes.list(projectId, { kind: 'merge-request', id }, request);
  return items.toSorted((a, b) => a.id - b.id).map(({ body, author }) => [String(body), author.username]);
}

async function acting(userId: number, projectId: number) {
  const { store } = deps();
  const [user, project] = await Promise.all([store.users.get(userId), store.projects.get(projectId)]);
  const actor = actingFor(user!, 'http://localhost');
  return { actor, access: (await projectAccess(actor, project!, new MembershipCache(deps())))! };
}

/** What workers do after pipelines and merges. */

import { RefConflict } from '../../git/ports.ts';
import { branchRef } from '../../git/refname.ts';
import type { MergeRequestRecord } from '../../records/merge-requests.ts';
import { mergeRequestTodos } from '../../store/todos/todos.ts';
import { can } from '../access/permissions.ts';
import { projectAccesses } from '../access/project-accesses.ts';
import { actingFor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { DomainError } from '../errors.ts';
import { branchProtection } from '../refs/protection.ts';
import { codeOf } from '../repository/read.ts';
import { changeMergeRequest } from './change.ts';
import { mergeMergeRequest } from './merge.ts';

/**
 * Merges a merge request whose pipeline succeeded, as who asked for that, if they still may. Where it cannot be merged,
 * that is told in it, and it is not tried again. It may run twice.
 */
export async function mergeAfterPipeline(
  deps: Deps,
  {
    projectId,
    iid,
    baseUrl,
  }: {
    readonly projectId: number;
    readonly iid: number;
    readonly baseUrl: string;
  },
): Promise<void> {
  const record = await deps.store.mergeRequests.get({ projectId, iid });
  const autoMerge = record?.autoMerge;
  if (record?.state !== 'opened' || autoMerge == null) return;
  const user = await deps.store.users.get(autoMerge.userId);
  const actor = user && actingFor(user, baseUrl);
  const [access] = actor === undefined ? [] : await projectAccesses(deps, actor, [projectId]);
  if (actor === undefined || access === undefined) return;
  const { userId: _, headSha, ...choices } = autoMerge;
  try {
    await mergeMergeRequest(deps, actor, access, iid, {
      ...choices,
      whenPipelineSucceeds: true,
      sha: headSha,
    });
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    const text = `Automatic merge failed: ${error.text}`;
    const change = (before: MergeRequestRecord) => {
      if (before.autoMerge?.headSha !== headSha) throw new NotWaiting();
      return { autoMerge: null, mergeError: text };
    };
    // Its author has to look at it.
    const messages = mergeRequestTodos(record, { authorId: record.author.id, unmergeable: true });
    await changeMergeRequest(deps, actor, access, iid, change, { messages }).catch((refused: unknown) => {
      if (!(refused instanceof NotWaiting)) throw refused;
    });
  }
}

/** It is merged, or does not wait for this head any more. */
class NotWaiting extends Error {
  override readonly name = 'NotWaiting';
}

/** Removes the source branch of a merged one in a fork, if it is where it was and the merger may. */
export async function removeSourceBranch(
  deps: Deps,
  {
    projectId,
    branch,
    sha,
    userId,
    baseUrl,
  }: {
    readonly projectId: number;
    readonly branch: string;
    readonly sha: string;
    readonly userId: number;
    readonly baseUrl: string;
  },
): Promise<void> {
  const user = await deps.store.users.get(userId);
  const name = branchRef(branch);
  if (user === undefined || name === undefined) return;
  const actor = actingFor(user, baseUrl);
  const [access] = await projectAccesses(deps, actor, [projectId]);
  if (access === undefined || !can(actor, access, 'push_code')) return;
  const protection = await branchProtection(deps, access, actor);
  if (branch === access.project.defaultBranch || protection.isProtected(branch)) return;
  const git = codeOf(deps, access, actor);
  const ref = await git.ref(name);
  if (ref?.oid !== sha) return;
  try {
    await git.deleteRef(name, ref.oid);
  } catch (error) {
    // It was moved or removed meanwhile.
    if (!(error instanceof RefConflict)) throw error;
  }
}

/** A fork is never more visible than its source: lowering a project's visibility ends its fork relations. */

import type { ProjectRecord } from '../../records/projects.ts';
import type { Visibility } from '../../records/visibility.ts';
import { Missing, Stale } from '../../store/errors.ts';
import { UNLINK_JOB } from '../../store/forks/forks.ts';
import { MAINTENANCE, message, type OutboxMessage } from '../../store/outbox/outbox.ts';
import type { Deps } from '../deps.ts';
import { isBelow } from '../visibility.ts';

/** The outbox messages for the transaction that changes a project's visibility. */
export function unlinkMessages(deps: Deps, project: ProjectRecord, visibility: Visibility): OutboxMessage[] {
  // Also if there is no fork: one may be created concurrently.
  if (!isBelow(visibility, project.visibility)) return [];
  return [message(MAINTENANCE, UNLINK_JOB, { projectId: project.id, before: deps.now().toISOString() })];
}

/**
 * Ends a project's relations to its source and to its forks. Forks created after `before` are kept, unless they are
 * more visible than the project. Idempotent.
 * @param deadline milliseconds since 1970
 * @returns whether it has finished
 */
export async function unlinkForks(
  { store }: Deps,
  { projectId, before }: { readonly projectId: number; readonly before: string },
  deadline: number,
): Promise<boolean> {
  const project = await store.projects.get(projectId);
  if (project === undefined) return true;
  if (project.createdAt <= before) await unrelate(store, project);
  for await (const id of store.forks.of(projectId)) {
    if (Date.now() > deadline) return false;
    const fork = await store.projects.get(id);
    const late = fork !== undefined && isBelow(project.visibility, fork.visibility);
    if (fork?.forkedFromId === projectId && (late || fork.createdAt <= before)) await unrelate(store, fork);
  }
  return true;
}

async function unrelate({ forks }: Deps['store'], fork: ProjectRecord): Promise<void> {
  if (fork.forkedFromId === undefined) return;
  try {
    await forks.unrelate(fork);
  } catch (error) {
    // A concurrent request ended it, or the fork was deleted.
    if (!(error instanceof Missing || error instanceof Stale)) throw error;
  }
}

/** Nothing is a fork of what is less visible: who makes a project less visible takes it out of these relations. */

import type { ProjectRecord } from '../../records/projects.ts';
import type { Visibility } from '../../records/visibility.ts';
import { Missing, Stale } from '../../store/errors.ts';
import { UNLINK_JOB } from '../../store/forks/forks.ts';
import { MAINTENANCE, message, type OutboxMessage } from '../../store/outbox/outbox.ts';
import type { Deps } from '../deps.ts';
import { isBelow } from '../visibility.ts';

/** What the transaction promises that gives a project a visibility. */
export function unlinkPromises(deps: Deps, project: ProjectRecord, visibility: Visibility): OutboxMessage[] {
  // Also where there is no fork: one may be made at the same moment.
  if (!isBelow(visibility, project.visibility)) return [];
  return [message(MAINTENANCE, UNLINK_JOB, { projectId: project.id, before: deps.now().toISOString() })];
}

/**
 * Ends the relations of a project that was there before: to what it is a fork of, and to its forks. May come any number
 * of times; forks made afterwards stay.
 * @param deadline milliseconds since 1970. @returns whether all is done
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
    // Somebody else ended it, or it is gone.
    if (!(error instanceof Missing || error instanceof Stale)) throw error;
  }
}

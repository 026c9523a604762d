/** A fork is never more visible than its source: lowering a project's visibility ends its fork relations. */

import type { ProjectRecord } from '../../records/projects.ts';
import type { Visibility } from '../../records/visibility.ts';
import { Missing, Stale } from '../../store/errors.ts';
import { UNLINK_JOB } from '../../store/forks/forks.ts';
import { closeUnrelatedMessage } from '../../store/merge-requests/merge-requests.ts';
import type { Writer } from '../../store/notes/mentions.ts';
import { MAINTENANCE, message, type OutboxMessage, outboxWrite } from '../../store/outbox/outbox.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { moverOf } from '../notifications/enqueue.ts';
import { isBelow } from '../visibility.ts';

/** The outbox messages for the transaction that changes a project's visibility. */
export function unlinkMessages(
  deps: Deps,
  actor: Actor,
  project: ProjectRecord,
  visibility: Visibility,
): OutboxMessage[] {
  // Also if there is no fork: one may be created concurrently.
  if (!isBelow(visibility, project.visibility)) return [];
  const body = { projectId: project.id, before: deps.now().toISOString(), ...moverOf(deps, actor) };
  return [message(MAINTENANCE, UNLINK_JOB, body)];
}

/**
 * Ends a project's relations to its source and to its forks. Forks created after `before` are kept, unless they are
 * more visible than the project. Idempotent.
 * @param deadline milliseconds since 1970
 * @returns whether it has finished
 */
export async function unlinkForks(
  deps: Deps,
  {
    projectId,
    before,
    actorId = null,
    baseUrl = '',
  }: Partial<Writer> & { readonly projectId: number; readonly before: string },
  deadline: number,
): Promise<boolean> {
  const { store } = deps;
  const by = { actorId, baseUrl };
  const project = await store.projects.get(projectId);
  if (project === undefined) return true;
  if (project.createdAt <= before) await unlink(deps, project, by);
  for await (const id of store.forks.of(projectId)) {
    if (Date.now() > deadline) return false;
    const fork = await store.projects.get(id);
    const late = fork !== undefined && isBelow(project.visibility, fork.visibility);
    if (fork?.forkedFromId === projectId && (late || fork.createdAt <= before)) await unlink(deps, fork, by);
  }
  return true;
}

async function unlink(deps: Deps, fork: ProjectRecord, by: Writer): Promise<void> {
  if (fork.forkedFromId === undefined) return;
  try {
    await unrelate(deps, fork, by);
  } catch (error) {
    // A concurrent request ended it, or the fork was deleted.
    if (!(error instanceof Missing || error instanceof Stale)) throw error;
  }
}

/** Ends the relation of a fork to its source. A worker closes the merge requests between them. @throws Stale, Missing */
export async function unrelate({ store }: Deps, fork: ProjectRecord, by: Writer): Promise<void> {
  const message = closeUnrelatedMessage(fork.id, by);
  await store.forks.unrelate(fork, [outboxWrite(message)]);
  await store.outbox.deliver([message]);
}

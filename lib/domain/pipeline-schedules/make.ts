/** Making the pipelines of schedules. */

import { projectAccesses } from '../access/project-accesses.ts';
import { actingFor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { DomainError } from '../errors.ts';
import { createAutomatically } from '../pipelines/create.ts';
import { scheduleVariables } from './schedules.ts';

/** Newest pipelines of a project's ref among which that of the message is looked for. */
const LOOKED_AT = 50;

/** Makes a pipeline of a schedule with the rights of a user. It may run twice: what is there already is not made again. */
export async function makeScheduled(
  deps: Deps,
  { projectId, scheduleId, userId, baseUrl }: ScheduledPipeline,
  messageId: string,
): Promise<void> {
  const [schedule, user] = await Promise.all([
    deps.store.pipelineSchedules.get(projectId, scheduleId),
    deps.store.users.get(userId),
  ]);
  if (schedule === undefined || user?.state !== 'active') return;
  const actor = actingFor(user, baseUrl);
  const [[access], variables] = await Promise.all([
    projectAccesses(deps, actor, [projectId]),
    scheduleVariables(deps, schedule),
  ]);
  if (access === undefined) return;
  const known = await deps.store.pipelines.newestOfRef(projectId, shortRef(schedule.ref), LOOKED_AT);
  if (known.some(({ madeBy }) => madeBy === messageId)) return;
  try {
    const made = await createAutomatically(deps, actor, access, {
      ref: schedule.ref,
      source: 'schedule',
      variables: variables.map(({ key, value, type }) => ({ key, value, type })),
      madeBy: messageId,
    });
    if (made !== undefined) await deps.store.pipelineSchedules.ran(schedule, made.id);
  } catch (error) {
    // The ref is gone by now, or may not be used any more.
    if (!(error instanceof DomainError)) throw error;
  }
}

const shortRef = (ref: string): string => ref.replace(/^refs\/(?:heads|tags)\//, '');

export interface ScheduledPipeline {
  readonly projectId: number;
  readonly scheduleId: number;
  readonly userId: number;
  readonly baseUrl: string;
}

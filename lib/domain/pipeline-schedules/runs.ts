/** What happens when the time of a schedule has come. */

import { Missing, Stale } from '../../store/errors.ts';
import type { Deps } from '../deps.ts';
import { timeAfterRun } from './cron.ts';
import { due, pipelineOf } from './schedules.ts';

/**
 * Promises a pipeline and the next run, together. A message of a time that is no longer that of the schedule does nothing:
 * it came twice, or the schedule was changed.
 */
export async function runDue(deps: Deps, projectId: number, scheduleId: number, at: string): Promise<void> {
  const { pipelineSchedules, users } = deps.store;
  const schedule = await pipelineSchedules.get(projectId, scheduleId);
  if (schedule === undefined || !schedule.active || schedule.nextRunAt !== at) return;
  const now = deps.now();
  const owner = await users.get(schedule.ownerId);
  const next = timeAfterRun(schedule.cron, schedule.cronTimezone, new Date(at), now);
  try {
    // Nobody's rights are left, or no time: somebody has to look after it.
    if (owner?.state !== 'active' || next === undefined) {
      await pipelineSchedules.change(schedule, { active: false }, now);
      return;
    }
    const renewed = { ...schedule, nextRunAt: next.toISOString() };
    await pipelineSchedules.change(schedule, { nextRunAt: renewed.nextRunAt }, now, {
      later: due(renewed),
      now: [pipelineOf(schedule, owner.id, schedule.baseUrl)],
    });
  } catch (error) {
    if (error instanceof Missing) return;
    // Another delivery was first; or a change, and then the message comes again and looks.
    if (!(error instanceof Stale)) throw error;
    const present = await pipelineSchedules.get(projectId, scheduleId);
    if (present?.nextRunAt === at && present.active) throw error;
  }
}

import type { ProjectAccess } from '../../domain/access/types.ts';
import { mayAdmin, scheduleVariables } from '../../domain/pipeline-schedules/schedules.ts';
import type { SignedInActor } from '../../http/access.ts';
import type { PipelineScheduleRecord } from '../../records/pipeline-schedules.ts';
import type { PipelineRecord } from '../../records/pipelines.ts';
import { plainVariable } from '../ci-variables/present.ts';
import type { ApiDeps } from '../endpoint.ts';
import { userBasic } from '../users/present.ts';

/** Schedules with their owners, in their order. */
export async function presented(
  deps: ApiDeps,
  schedules: readonly PipelineScheduleRecord[],
  baseUrl: string,
) {
  const ids = [...new Set(schedules.map(({ ownerId }) => ownerId))];
  const users = ids.length === 0 ? [] : await deps.store.users.getMany(ids);
  const userOf = new Map(ids.map((id, i) => [id, users[i]]));
  return schedules.map((schedule) => {
    const owner = userOf.get(schedule.ownerId);
    return {
      id: schedule.id,
      description: schedule.description,
      ref: schedule.ref,
      cron: schedule.cron,
      cron_timezone: schedule.cronTimezone,
      next_run_at: schedule.nextRunAt,
      active: schedule.active,
      created_at: schedule.createdAt,
      updated_at: schedule.updatedAt,
      owner: owner === undefined ? null : userBasic(owner, baseUrl),
    };
  });
}

const lastPipeline = ({ id, sha, ref, status }: PipelineRecord) => ({ id, sha, ref, status });

/** A schedule with its last pipeline, and for those who may change it its variables. */
export async function presentedDetail(
  deps: ApiDeps,
  actor: SignedInActor,
  access: ProjectAccess,
  schedule: PipelineScheduleRecord,
  baseUrl: string,
) {
  const shown = mayAdmin(actor, access, schedule);
  const { projectId, lastPipelineId: last } = schedule;
  const [[fields], variables, pipeline] = await Promise.all([
    presented(deps, [schedule], baseUrl),
    shown ? scheduleVariables(deps, schedule) : [],
    last === null ? undefined : deps.store.pipelines.byId(projectId, last),
  ]);
  return {
    ...fields!,
    last_pipeline: pipeline === undefined ? null : lastPipeline(pipeline),
    ...(shown ? { variables: variables.map(plainVariable) } : {}),
  };
}

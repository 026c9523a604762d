/** Schedules of pipelines: who may do what with them, and when they run next. */

import type { CiVariable } from '../../records/ci-variables.ts';
import type { PipelineScheduleRecord } from '../../records/pipeline-schedules.ts';
import { MAINTENANCE, message, messageAt, type OutboxMessage } from '../../store/outbox/outbox.ts';
import {
  SCHEDULE_DUE_JOB,
  SCHEDULED_PIPELINE_JOB,
} from '../../store/pipeline-schedules/pipeline-schedules.ts';
import { can, signedIn } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { creationError, type FieldProblems, forbidden, invalid, notFound } from '../errors.ts';
import { refProtection } from '../refs/protection.ts';
import { retryWhileStale } from '../retry-while-stale.ts';
import { sealing } from '../secrets/sealing.ts';
import { ianaZone } from './time-zones.ts';

/** Characters. */
const MAX_TEXT = 255;

export interface ScheduleInput {
  readonly description: string;
  readonly ref: string;
  readonly cron: string;
  readonly cronTimezone?: string | undefined;
  readonly active?: boolean | undefined;
}

export type ScheduleChange = { readonly [Name in keyof ScheduleInput]?: ScheduleInput[Name] | undefined };

/** In the order of ids. @param active only those that are, or are not */
export async function listSchedules(
  { store }: Deps,
  { project }: ProjectAccess,
  active: boolean | undefined,
): Promise<PipelineScheduleRecord[]> {
  const all = await store.pipelineSchedules.of(project.id);
  return active === undefined ? all : all.filter((each) => each.active === active);
}

/** @throws 404 `404 Pipeline Schedule Not Found` */
export async function getSchedule(
  { store }: Deps,
  { project }: ProjectAccess,
  id: number,
): Promise<PipelineScheduleRecord> {
  const schedule = await store.pipelineSchedules.get(project.id, id);
  if (schedule === undefined) throw notFound('Pipeline Schedule');
  return schedule;
}

/** Whether the actor may change a schedule, and see its variables. */
export const mayAdmin = (actor: Actor, access: ProjectAccess, { ownerId }: PipelineScheduleRecord): boolean =>
  can(actor, access, 'admin_pipeline_schedules') ||
  (actor.kind === 'user' && actor.user.id === ownerId && can(actor, access, 'create_pipeline_schedules'));

/** One that the actor may change. @throws 403, 404 */
export async function ownSchedule(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  id: number,
): Promise<PipelineScheduleRecord> {
  const schedule = await getSchedule(deps, access, id);
  if (!mayAdmin(actor, access, schedule)) throw forbidden();
  return schedule;
}

/** In the order of their creation. */
export const scheduleVariables = (deps: Deps, { id }: PipelineScheduleRecord): Promise<CiVariable[]> =>
  deps.store.ciVariables.of(sealing(deps), { kind: 'schedule', id });

/** @throws 400 by field; 404 when the project is deleted meanwhile */
export async function createSchedule(
  deps: Deps,
  actor: Actor,
  { project }: ProjectAccess,
  input: ScheduleInput,
): Promise<PipelineScheduleRecord> {
  const now = deps.now();
  const fields = {
    description: input.description,
    ref: input.ref,
    cron: input.cron,
    cronTimezone: input.cronTimezone ?? 'UTC',
    active: input.active ?? true,
  };
  const nextRunAt = await nextRun(fields, now);
  const schedule: PipelineScheduleRecord = {
    id: await deps.store.pipelineSchedules.nextId(),
    projectId: project.id,
    ...fields,
    ownerId: signedIn(actor).user.id,
    nextRunAt,
    lastPipelineId: null,
    baseUrl: baseUrlOf(deps, actor),
    createdAt: now.toISOString(),
    updatedAt: now.toISOString(),
    version: 1,
  };
  try {
    await deps.store.pipelineSchedules.create(schedule, { later: due(schedule) });
    return schedule;
  } catch (error) {
    throw creationError(error, 'pipeline schedules');
  }
}

/** @throws 400 by field; 403; 404; 409 */
export const changeSchedule = (
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  id: number,
  input: ScheduleChange,
): Promise<PipelineScheduleRecord> =>
  retryWhileStale(async () => {
    const previous = await ownSchedule(deps, actor, access, id);
    const change = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
    const next: PipelineScheduleRecord = { ...previous, ...change };
    const now = deps.now();
    const nextRunAt = await nextRun(next, now);
    const timed = (['cron', 'cronTimezone', 'active'] as const).some((name) => next[name] !== previous[name]);
    // Otherwise its message is on its way.
    if (!timed) return deps.store.pipelineSchedules.change(previous, change, now);
    const renewed = { ...next, nextRunAt };
    return deps.store.pipelineSchedules.change(previous, { ...change, nextRunAt }, now, {
      later: due(renewed),
    });
  }, 'Project');

/** The actor becomes its owner: pipelines are made with their rights. @throws 403 for the owner too; 404; 409 */
export const takeSchedule = (
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  id: number,
): Promise<PipelineScheduleRecord> =>
  retryWhileStale(async () => {
    const previous = await getSchedule(deps, access, id);
    const { user } = signedIn(actor);
    if (!can(actor, access, 'admin_pipeline_schedules') || previous.ownerId === user.id) throw forbidden();
    return deps.store.pipelineSchedules.change(previous, { ownerId: user.id }, deps.now());
  }, 'Project');

/**
 * @param unchanged called with the time of the last change; throws if that is later than the caller allows
 * @throws 403; 404; 409
 */
export const removeSchedule = (
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  id: number,
  unchanged: (changed: string) => void,
): Promise<void> =>
  retryWhileStale(async () => {
    const schedule = await ownSchedule(deps, actor, access, id);
    unchanged(schedule.updatedAt);
    await deps.store.pipelineSchedules.remove(schedule, await scheduleVariables(deps, schedule));
  }, 'Project');

/** Makes a pipeline of it soon, with the rights of the actor. @throws 403 where its branch is protected from them; 404 */
export async function playSchedule(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  id: number,
): Promise<void> {
  const [schedule, { branches }] = await Promise.all([
    getSchedule(deps, access, id),
    refProtection(deps, access, actor),
  ]);
  const branch = schedule.ref.replace(/^refs\/heads\//, '');
  if (branches.isProtected(branch) && !branches.mayUpdate(actor, branch)) throw forbidden();
  const { user } = signedIn(actor);
  await deps.store.outbox.commit([], [pipelineOf(schedule, user.id, baseUrlOf(deps, actor))]);
}

const baseUrlOf = (deps: Deps, actor: Actor): string =>
  actor.origin?.baseUrl ?? deps.environment.baseUrl ?? '';

/** The message of its next run; none of one that is not active. It does nothing where the time is another one by then. */
export const due = ({ projectId, id, nextRunAt, active }: PipelineScheduleRecord): OutboxMessage[] =>
  active
    ? [
        messageAt(
          MAINTENANCE,
          SCHEDULE_DUE_JOB,
          { projectId, scheduleId: id, at: nextRunAt },
          new Date(nextRunAt),
        ),
      ]
    : [];

/** The message that makes a pipeline of it. */
export const pipelineOf = (
  { projectId, id }: PipelineScheduleRecord,
  userId: number,
  baseUrl: string,
): OutboxMessage =>
  message(MAINTENANCE, SCHEDULED_PIPELINE_JOB, { projectId, scheduleId: id, userId, baseUrl });

type Fields = Pick<PipelineScheduleRecord, 'description' | 'ref' | 'cron' | 'cronTimezone'>;

/** @throws 400 by field */
async function nextRun({ description, ref, cron, cronTimezone }: Fields, now: Date): Promise<string> {
  // Loaded on demand: it brings a library.
  const { nextTime } = await import('./cron.ts');
  const wrong = [' is invalid syntax'];
  const problems: FieldProblems = {
    description: textProblems(description),
    ref: textProblems(ref),
    cron: nextTime(cron, 'UTC', now) === undefined ? wrong : [],
    cron_timezone: ianaZone(cronTimezone) === undefined ? wrong : [],
  };
  const found = Object.entries(problems).filter(([, texts]) => texts.length > 0);
  if (found.length > 0) throw invalid(Object.fromEntries(found));
  return nextTime(cron, cronTimezone, now)!.toISOString();
}

const textProblems = (text: string): string[] => [
  ...(text.trim() === '' ? ["can't be blank"] : []),
  ...(text.length > MAX_TEXT ? [`is too long (maximum is ${MAX_TEXT} characters)`] : []),
];

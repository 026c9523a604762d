import * as schedules from '../../domain/pipeline-schedules/schedules.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { noContent } from '../../http/reply.ts';
import { endpoint } from '../endpoint.ts';
import { presented, presentedDetail } from './present.ts';
import * as shapes from './shapes.ts';
import { scheduleVariableEndpoints } from './variables.ts';

const area = 'ci-settings';
const path = '/projects/:id/pipeline_schedules';
const readers = project('read_pipeline_schedules');
/** Developers, of schedules of their own; the rest is judged by the schedule. */
const writers = project('create_pipeline_schedules');
const absent = { status: 404, description: 'The project has no such schedule' };
const guarded = { status: 403, description: 'It is the schedule of another, and the caller no Maintainer' };
const changed = { status: 409, description: 'It was changed by other requests' };
const invalid = { status: 400, description: 'A value is invalid, or there are too many schedules' };
const scheduleId = () =>
  p.params({ pipeline_schedule_id: p.integer({ required: true, description: 'ID of the schedule' }) });

const texts = {
  description: 'Description of the schedule',
  ref: 'Branch or tag for which pipelines are made',
  cron: 'When, such as `0 1 * * *`; at most every ten minutes',
  timezone: 'Time zone, such as `Europe/Paris` or `Pacific Time (US & Canada)`. Default: `UTC`',
  active: 'Whether pipelines are made. Default: `true`',
};

const list = endpoint({
  method: 'GET',
  path,
  area,
  summary: 'List the pipeline schedules of a project',
  access: readers,
  query: () =>
    p.params({
      scope: p.oneOf(['active', 'inactive'], {
        description: 'Return only schedules that are active, or are not',
      }),
    }),
  returns: { body: shapes.pipelineSchedules },
  paginate: 'offset',
  handle: async ({ project, query: { scope }, page, request }, deps) => {
    const active = scope === undefined ? undefined : scope === 'active';
    const all = await schedules.listSchedules(deps, project, active);
    const shown = all.slice(page.offset, page.offset + page.perPage);
    return { items: await presented(deps, shown, request.baseUrl), total: all.length };
  },
});

const get = endpoint({
  method: 'GET',
  path: `${path}/:pipeline_schedule_id`,
  area,
  summary: 'Get a pipeline schedule',
  access: readers,
  params: scheduleId,
  returns: { body: shapes.pipelineSchedule },
  errors: [absent],
  handle: async ({ actor, project, params, request }, deps) => {
    const schedule = await schedules.getSchedule(deps, project, params.pipeline_schedule_id);
    return presentedDetail(deps, actor, project, schedule, request.baseUrl);
  },
});

const create = endpoint({
  method: 'POST',
  path,
  area,
  summary: 'Create a pipeline schedule',
  access: writers,
  body: () =>
    p.params({
      description: p.string({ required: true, description: texts.description }),
      ref: p.string({ required: true, description: texts.ref }),
      cron: p.string({ required: true, description: texts.cron }),
      cron_timezone: p.string({ description: texts.timezone }),
      active: p.boolean({ description: texts.active }),
    }),
  returns: { body: shapes.pipelineSchedule },
  errors: [invalid],
  handle: async ({ actor, project, body, request }, deps) => {
    const { description, ref, cron, cron_timezone: cronTimezone, active } = body;
    const input = { description, ref, cron, cronTimezone, active };
    const schedule = await schedules.createSchedule(deps, actor, project, input);
    return presentedDetail(deps, actor, project, schedule, request.baseUrl);
  },
});

const update = endpoint({
  method: 'PUT',
  path: `${path}/:pipeline_schedule_id`,
  area,
  summary: 'Update a pipeline schedule',
  access: writers,
  params: scheduleId,
  body: () =>
    p.params({
      description: p.string({ description: texts.description }),
      ref: p.string({ description: texts.ref }),
      cron: p.string({ description: texts.cron }),
      cron_timezone: p.string({ description: texts.timezone }),
      active: p.boolean({ description: texts.active }),
    }),
  returns: { body: shapes.pipelineSchedule },
  errors: [invalid, guarded, absent, changed],
  handle: async ({ actor, project, params, body, request }, deps) => {
    const { description, ref, cron, cron_timezone: cronTimezone, active } = body;
    const input = { description, ref, cron, cronTimezone, active };
    const id = params.pipeline_schedule_id;
    const schedule = await schedules.changeSchedule(deps, actor, project, id, input);
    return presentedDetail(deps, actor, project, schedule, request.baseUrl);
  },
});

const take = endpoint({
  method: 'POST',
  path: `${path}/:pipeline_schedule_id/take_ownership`,
  area,
  summary: 'Transfer a pipeline schedule to the caller',
  description: 'Its pipelines are made with the rights of the caller from then on.',
  access: project('admin_pipeline_schedules'),
  params: scheduleId,
  returns: { body: shapes.pipelineSchedule },
  errors: [
    { status: 403, description: 'The caller is the owner already, or no Maintainer' },
    absent,
    changed,
  ],
  handle: async ({ actor, project, params, request }, deps) => {
    const schedule = await schedules.takeSchedule(deps, actor, project, params.pipeline_schedule_id);
    return presentedDetail(deps, actor, project, schedule, request.baseUrl);
  },
});

const play = endpoint({
  method: 'POST',
  path: `${path}/:pipeline_schedule_id/play`,
  area,
  summary: 'Start a pipeline of a schedule now',
  description: 'A pipeline is made soon, with the rights of the caller.',
  access: writers,
  params: scheduleId,
  returns: { body: shapes.played },
  errors: [{ status: 403, description: 'The caller may not update its protected branch' }, absent],
  handle: async ({ actor, project, params }, deps) => {
    await schedules.playSchedule(deps, actor, project, params.pipeline_schedule_id);
    return { message: '201 Created' };
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: `${path}/:pipeline_schedule_id`,
  area,
  summary: 'Delete a pipeline schedule',
  access: writers,
  params: scheduleId,
  returns: { status: 204 },
  errors: [guarded, absent, changed],
  handle: async ({ actor, project, params, unmodifiedSince }, deps) => {
    await schedules.removeSchedule(deps, actor, project, params.pipeline_schedule_id, unmodifiedSince);
    return noContent();
  },
});

export const pipelineScheduleEndpoints = [
  list,
  get,
  create,
  update,
  take,
  play,
  remove,
  ...scheduleVariableEndpoints,
];

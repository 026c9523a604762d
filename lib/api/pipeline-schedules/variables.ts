import { ownSchedule } from '../../domain/pipeline-schedules/schedules.ts';
import * as variables from '../../domain/pipeline-schedules/variables.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { json } from '../../http/reply.ts';
import { VARIABLE_TYPES } from '../../records/ci-variables.ts';
import { plainVariable } from '../ci-variables/present.ts';
import * as shapes from '../ci-variables/shapes.ts';
import { endpoint } from '../endpoint.ts';

const area = 'ci-settings';
const path = '/projects/:id/pipeline_schedules/:pipeline_schedule_id/variables';
const access = project('create_pipeline_schedules');
const refusals = [
  { status: 403, description: 'It is the schedule of another, and the caller no Maintainer' },
  { status: 404, description: 'The project has no such schedule, or the schedule no such variable' },
];
const invalid = { status: 400, description: 'A value is invalid, the key is taken, or there are too many' };
const changed = { status: 409, description: 'It was changed by other requests' };
const scheduleId = () => ({
  pipeline_schedule_id: p.integer({ required: true, description: 'ID of the schedule' }),
});
const withKey = () =>
  p.params({ ...scheduleId(), key: p.string({ required: true, description: 'Key of the variable' }) });
const type = () =>
  p.oneOf(VARIABLE_TYPES, {
    description: '`file`: jobs get the path of a file with the value. Default: `env_var`',
  });

const create = endpoint({
  method: 'POST',
  path,
  area,
  summary: 'Create a variable of a pipeline schedule',
  access,
  params: () => p.params(scheduleId()),
  body: () =>
    p.params({
      key: p.string({ required: true, description: 'At most 255 letters, digits and `_`' }),
      value: p.string({ required: true, description: 'At most 10,000 characters' }),
      variable_type: type(),
    }),
  returns: { body: shapes.plainVariable },
  errors: [invalid, ...refusals],
  handle: async ({ actor, project, params, body }, deps) => {
    const schedule = await ownSchedule(deps, actor, project, params.pipeline_schedule_id);
    const { key, value, variable_type = 'env_var' } = body;
    const input = { key, value, type: variable_type };
    return plainVariable(await variables.createScheduleVariable(deps, schedule, input));
  },
});

const update = endpoint({
  method: 'PUT',
  path: `${path}/:key`,
  area,
  summary: 'Update a variable of a pipeline schedule',
  access,
  params: withKey,
  body: () =>
    p.params({ value: p.string({ description: 'At most 10,000 characters' }), variable_type: type() }),
  returns: { body: shapes.plainVariable },
  errors: [invalid, ...refusals, changed],
  handle: async ({ actor, project, params, body }, deps) => {
    const schedule = await ownSchedule(deps, actor, project, params.pipeline_schedule_id);
    const input = { value: body.value, type: body.variable_type };
    return plainVariable(await variables.changeScheduleVariable(deps, schedule, params.key, input));
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: `${path}/:key`,
  area,
  summary: 'Delete a variable of a pipeline schedule',
  access,
  params: withKey,
  returns: { status: 202, body: shapes.plainVariable },
  errors: [...refusals, changed],
  handle: async ({ actor, project, params }, deps) => {
    const schedule = await ownSchedule(deps, actor, project, params.pipeline_schedule_id);
    const removed = await variables.removeScheduleVariable(deps, schedule, params.key);
    return json(plainVariable(removed), { status: 202 });
  },
});

export const scheduleVariableEndpoints = [create, update, remove];

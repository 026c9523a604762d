import * as iterations from '../../domain/iterations/iterations.ts';
import type { ContainerAccess } from '../../domain/labels/containers.ts';
import { group, project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { noContent } from '../../http/reply.ts';
import { ITERATION_STATES, type IterationRecord } from '../../records/iterations.ts';
import { type ApiDeps, counted, endpoint } from '../endpoint.ts';
import { presentedIterations } from './present.ts';
import * as shapes from './shapes.ts';

const area = 'labels';

const path = '/groups/:id/iterations';
const writers = group('admin_iteration');

const absent = { status: 404, description: 'The group has no such iteration' };
const changed = { status: 409, description: 'Iterations of the group are being changed by other requests' };
const refused = {
  status: 400,
  description:
    'A field is invalid, the title is taken, or another iteration of the group has some of the days',
};

const iterationId = () =>
  p.params({ iteration_id: p.integer({ required: true, description: 'ID of the iteration' }) });

const description = () =>
  p.string({ nullable: true, description: 'Description of the iteration, at most 32 KiB' });
const FIRST = 'First day of the iteration, YYYY-MM-DD';
const LAST = 'Last day of the iteration, YYYY-MM-DD';

const shown = async (deps: ApiDeps, record: IterationRecord, baseUrl: string) =>
  (await presentedIterations(deps, [record], baseUrl))[0]!;

/** Projects have the iterations of the groups above them. */
const LISTS = [
  { kind: 'project', readers: project('read_iteration', { anonymous: true }) },
  { kind: 'group', readers: group('read_group', { anonymous: true }) },
] as const;

const lists = LISTS.map(({ kind, readers }) =>
  endpoint({
    method: 'GET',
    path: `/${kind}s/:id/iterations`,
    area,
    summary: `List the iterations of a ${kind}`,
    description: 'The earliest first.',
    access: readers,
    query: () =>
      p.params({
        state: p.oneOf(['opened', ...ITERATION_STATES, 'all'], {
          default: 'all',
          description: 'Return only iterations of this state; `opened`: upcoming and current ones',
        }),
        search: p.string({ description: 'Return only iterations whose title contains this text' }),
        include_ancestors: p.boolean({
          default: true,
          description: 'Include the iterations of all groups above',
        }),
        updated_after: p.datetime({ description: 'Return only iterations changed at this time or later' }),
        updated_before: p.datetime({ description: 'Return only iterations changed at this time or earlier' }),
      }),
    returns: { body: shapes.iterations },
    paginate: 'offset',
    handle: async ({ query, page, request, ...found }, deps) => {
      const { project: inProject, group: inGroup } = found as {
        readonly project?: ContainerAccess;
        readonly group?: ContainerAccess;
      };
      const listed = await iterations.listIterations(deps, (inProject ?? inGroup)!, {
        ...counted(page),
        state: query.state,
        search: query.search,
        inherited: query.include_ancestors,
        updatedAfter: query.updated_after,
        updatedBefore: query.updated_before,
      });
      return { ...listed, items: await presentedIterations(deps, listed.items, request.baseUrl) };
    },
  }),
);

export const iterationEndpoints = [
  ...lists,
  endpoint({
    method: 'POST',
    path,
    area,
    summary: 'Create an iteration of a group',
    access: writers,
    body: () =>
      p.params({
        title: p.string({ required: true, description: 'Title of the iteration' }),
        description: description(),
        start_date: p.date({ required: true, description: FIRST }),
        due_date: p.date({ required: true, description: LAST }),
      }),
    returns: { body: shapes.iteration },
    errors: [refused, changed],
    handle: async ({ group: access, body, request }, deps) => {
      const { title, description: text, start_date: startDate, due_date: dueDate } = body;
      const input = { title, description: text, startDate, dueDate };
      return shown(deps, await iterations.createIteration(deps, access, input), request.baseUrl);
    },
  }),
  endpoint({
    method: 'PUT',
    path: `${path}/:iteration_id`,
    area,
    summary: 'Update an iteration of a group',
    access: writers,
    params: iterationId,
    body: () =>
      p.params(
        {
          title: p.string({ description: 'Title of the iteration' }),
          description: description(),
          start_date: p.date({ description: FIRST }),
          due_date: p.date({ description: LAST }),
        },
        [p.atLeastOneOf('title', 'description', 'start_date', 'due_date')],
      ),
    returns: { body: shapes.iteration },
    errors: [refused, absent, changed],
    handle: async ({ group: access, params, body, request }, deps) => {
      const { title, description: text, start_date: startDate, due_date: dueDate } = body;
      const input = {
        ...(title === undefined ? {} : { title }),
        ...(startDate === undefined ? {} : { startDate }),
        ...(dueDate === undefined ? {} : { dueDate }),
        description: text,
      };
      const record = await iterations.changeIteration(deps, access, params.iteration_id, input);
      return shown(deps, record, request.baseUrl);
    },
  }),
  endpoint({
    method: 'DELETE',
    path: `${path}/:iteration_id`,
    area,
    summary: 'Delete an iteration of a group',
    access: writers,
    params: iterationId,
    returns: { status: 204 },
    errors: [absent, changed],
    handle: async ({ group: access, params, unmodifiedSince }, deps) => {
      await iterations.removeIteration(deps, access, params.iteration_id, unmodifiedSince);
      return noContent();
    },
  }),
];

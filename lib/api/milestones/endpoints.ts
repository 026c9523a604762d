import type { ContainerAccess } from '../../domain/labels/containers.ts';
import * as milestones from '../../domain/milestones/milestones.ts';
import { group, project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { noContent } from '../../http/reply.ts';
import type { MilestoneRecord } from '../../records/milestones.ts';
import { accessOf } from '../container-access.ts';
import { type ApiDeps, BY_ROWS, counted, endpoint } from '../endpoint.ts';
import { groupUrl } from '../groups/present.ts';
import { projectUrl } from '../projects/present.ts';
import { milestone } from './present.ts';
import { presentedMilestones } from './presented.ts';
import { promote } from './promote.ts';
import * as shapes from './shapes.ts';

const area = 'labels';

/** Projects and groups have the same endpoints. */
const KINDS = {
  project: {
    base: '/projects/:id/milestones',
    readers: project('read_milestone'),
    writers: project('admin_milestone'),
  },
  group: {
    base: '/groups/:id/milestones',
    readers: group('read_group'),
    writers: group('admin_group_milestone'),
  },
} as const;

const urlOf = (access: ContainerAccess, baseUrl: string): string =>
  'project' in access ? projectUrl(access.project, baseUrl) : groupUrl(access.group, baseUrl);

const absent = { status: 404, description: 'The project or group has no such milestone' };
const changed = { status: 409, description: 'The milestone was changed by another request' };
const milestoneId = () =>
  p.params({ milestone_id: p.integer({ required: true, description: 'ID of the milestone' }) });

const fields = () => ({
  description: p.string({ nullable: true, description: 'Description of the milestone, at most 32 KiB' }),
  due_date: p.date({ nullable: true, description: 'Last day of the milestone, YYYY-MM-DD' }),
  start_date: p.date({ nullable: true, description: 'First day of the milestone, YYYY-MM-DD' }),
});

interface Given {
  readonly description?: string | null;
  readonly due_date?: string | null;
  readonly start_date?: string | null;
}
const inputOf = ({ description, due_date: dueDate, start_date: startDate }: Given) => ({
  description,
  dueDate,
  startDate,
});

const STATE_EVENTS = { activate: 'active', close: 'closed' } as const;

const of = (kind: keyof typeof KINDS) => {
  const { base, readers, writers } = KINDS[kind];
  const shown = (deps: ApiDeps, access: ContainerAccess, record: MilestoneRecord, baseUrl: string) =>
    milestone(record, urlOf(access, baseUrl), deps.now());

  return [
    endpoint({
      method: 'GET',
      path: base,
      area,
      summary: `List the milestones of a ${kind}`,
      access: readers,
      query: () =>
        p.params({
          iids: p.list(p.integer(), {
            maxItems: 100,
            description: 'Return only milestones with these numbers',
          }),
          state: p.oneOf(['active', 'closed', 'all'], {
            default: 'all',
            description: 'Return only milestones of this state',
          }),
          title: p.string({ description: 'Return only milestones with this title' }),
          search: p.string({
            description: 'Return only milestones whose title or description contains this text',
          }),
          include_parent_milestones: p.boolean({
            default: false,
            description: 'Include the milestones of all groups above',
          }),
        }),
      returns: { body: shapes.milestones },
      ...BY_ROWS,
      handle: async ({ query, page, request, ...found }, deps) => {
        const listed = await milestones.listMilestones(deps, accessOf(found), {
          ...counted(page),
          state: query.state,
          inherited: query.include_parent_milestones,
          iids: query.iids,
          title: query.title,
          search: query.search,
        });
        return { ...listed, items: await presentedMilestones(deps, listed.items, request.baseUrl) };
      },
    }),
    endpoint({
      method: 'GET',
      path: `${base}/:milestone_id`,
      area,
      summary: `Get a milestone of a ${kind}`,
      access: readers,
      params: milestoneId,
      returns: { body: shapes.milestone },
      errors: [absent],
      handle: async ({ params, request, ...found }, deps) => {
        const access = accessOf(found);
        const record = await milestones.getMilestone(deps, access, params.milestone_id);
        return shown(deps, access, record, request.baseUrl);
      },
    }),
    endpoint({
      method: 'POST',
      path: base,
      area,
      summary: `Create a milestone of a ${kind}`,
      access: writers,
      body: () =>
        p.params({
          title: p.string({ required: true, description: 'Title of the milestone' }),
          ...fields(),
        }),
      returns: { body: shapes.milestone },
      errors: [
        { status: 400, description: 'A field is invalid, or the title is taken, here or in a group above' },
        { status: 409, description: 'Many milestones are being created at the same time' },
      ],
      handle: async ({ actor, body, request, ...found }, deps) => {
        const access = accessOf(found);
        const input = { title: body.title, ...inputOf(body) };
        const record = await milestones.createMilestone(deps, actor, access, input);
        return shown(deps, access, record, request.baseUrl);
      },
    }),
    endpoint({
      method: 'PUT',
      path: `${base}/:milestone_id`,
      area,
      summary: `Update a milestone of a ${kind}`,
      access: writers,
      params: milestoneId,
      body: () =>
        p.params(
          {
            title: p.changedText({ description: 'Title of the milestone' }),
            ...fields(),
            state_event: p.oneOf(['close', 'activate'], { description: 'Closes or reopens the milestone' }),
          },
          [p.atLeastOneOf('title', 'description', 'start_date', 'due_date', 'state_event')],
        ),
      returns: { body: shapes.milestone },
      errors: [{ status: 400, description: 'A field is invalid, or the title is taken' }, absent, changed],
      handle: async ({ actor, params, body, request, ...found }, deps) => {
        const access = accessOf(found);
        const input = {
          ...inputOf(body),
          ...(body.title === undefined ? {} : { title: body.title }),
          ...(body.state_event === undefined ? {} : { state: STATE_EVENTS[body.state_event] }),
        };
        const record = await milestones.changeMilestone(deps, actor, access, params.milestone_id, input);
        return shown(deps, access, record, request.baseUrl);
      },
    }),
    endpoint({
      method: 'DELETE',
      path: `${base}/:milestone_id`,
      area,
      summary: `Delete a milestone of a ${kind}`,
      access: writers,
      params: milestoneId,
      returns: { status: 204 },
      errors: [absent, changed],
      handle: async ({ actor, params, unmodifiedSince, ...found }, deps) => {
        await milestones.removeMilestone(deps, actor, accessOf(found), params.milestone_id, unmodifiedSince);
        return noContent();
      },
    }),
  ];
};

export const milestoneEndpoints = [...of('project'), ...of('group'), promote];

import type { GroupAccess } from '../../domain/access/types.ts';
import type { Actor } from '../../domain/actor.ts';
import { shownEpics } from '../../domain/epics/related.ts';
import {
  addToEpic,
  type IssueOfEpic,
  issuesOfEpic,
  removeFromEpic,
  reorderInEpic,
} from '../../domain/issues/of-epics.ts';
import { group } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import type { PageRequest } from '../../store/table/paging.ts';
import { type ApiDeps, counted, endpoint } from '../endpoint.ts';
import { presentEpic } from '../epics/present.ts';
import { presentedIssues } from './presented.ts';
import * as shapes from './shapes.ts';

const area = 'issues';
const path = '/groups/:id/epics/:epic_iid/issues';

const ofEpic = () => ({
  id: p.string({ required: true, description: 'ID or URL-encoded full path of the group' }),
  epic_iid: p.integer({ required: true, description: 'Number of the epic in the group' }),
});
const ofEpicIssue = () =>
  p.params({
    ...ofEpic(),
    epic_issue_id: p.integer({ required: true, description: '`epic_issue_id` of the issue' }),
  });
const errors = [
  { status: 404, description: 'Epic or issue not found' },
  { status: 409, description: 'Others keep changing the issue' },
];

const list = endpoint({
  method: 'GET',
  path,
  area,
  summary: 'List the issues of an epic',
  description: 'Those that you may see, in the order that they were put in; at first the newest first.',
  access: group('read_group', { anonymous: true }),
  params: () => p.params(ofEpic()),
  returns: { body: shapes.issuesOfEpic },
  paginate: 'offset',
  noun: 'Issue',
  errors: errors.slice(0, 1),
  handle: ({ actor, group: access, params, page, request }, deps) =>
    listed(deps, actor, access, params.epic_iid, counted(page), request.baseUrl),
});

const add = endpoint({
  method: 'POST',
  path: `${path}/:issue_id`,
  area,
  summary: 'Add an issue to an epic',
  description: 'For Reporters of its project, which is below the group. It leaves the epic that it is in.',
  access: group('read_group'),
  params: () =>
    p.params({ ...ofEpic(), issue_id: p.integer({ required: true, description: 'ID of the issue' }) }),
  returns: { status: 201, body: shapes.issueOfEpic },
  errors,
  handle: async ({ actor, group: access, params, request }, deps) =>
    present(
      deps,
      actor,
      await addToEpic(deps, actor, access, params.epic_iid, params.issue_id),
      request.baseUrl,
    ),
});

const remove = endpoint({
  method: 'DELETE',
  path: `${path}/:epic_issue_id`,
  area,
  summary: 'Remove an issue from an epic',
  access: group('read_group'),
  params: ofEpicIssue,
  returns: { status: 200, body: shapes.issueOfEpic },
  errors,
  handle: async ({ actor, group: access, params, request }, deps) =>
    present(
      deps,
      actor,
      await removeFromEpic(deps, actor, access, params.epic_iid, params.epic_issue_id),
      request.baseUrl,
    ),
});

const reorder = endpoint({
  method: 'PUT',
  path: `${path}/:epic_issue_id`,
  area,
  summary: 'Reorder an issue of an epic',
  access: group('admin_epic'),
  params: ofEpicIssue,
  body: () =>
    p.params({
      move_before_id: p.integer({
        description: '`epic_issue_id` of the issue of the epic that comes before this one',
      }),
      move_after_id: p.integer({
        description: '`epic_issue_id` of the issue of the epic that comes after this one',
      }),
    }),
  returns: { body: shapes.issuesOfEpic },
  paginate: 'offset',
  noun: 'Issue',
  errors,
  handle: async ({ actor, group: access, params, body, page, request }, deps) => {
    const neighbours = { beforeId: body.move_before_id, afterId: body.move_after_id };
    await reorderInEpic(deps, actor, access, params.epic_iid, params.epic_issue_id, neighbours);
    return listed(deps, actor, access, params.epic_iid, counted(page), request.baseUrl);
  },
});

export const epicIssueEndpoints = [list, add, reorder, remove];

async function listed(
  deps: ApiDeps,
  actor: Actor,
  access: GroupAccess,
  iid: number,
  page: PageRequest,
  baseUrl: string,
) {
  const found = await issuesOfEpic(deps, actor, access, iid, page);
  const askedIn = { kind: 'group', group: access.group } as const;
  const shown = await presentedIssues(deps, actor, found.items, baseUrl, askedIn);
  const rank = (page.page - 1) * page.perPage + 1;
  return {
    ...found,
    items: shown.map((issue, i) => ({ ...issue, epic_issue_id: issue.id, relative_position: rank + i })),
  };
}

async function present(deps: ApiDeps, actor: Actor, { epic, found }: IssueOfEpic, baseUrl: string) {
  const askedIn = { kind: 'group', group: epic.access.group } as const;
  const [[issue], [shown]] = await Promise.all([
    presentedIssues(deps, actor, [found], baseUrl, askedIn),
    shownEpics(deps, actor, [epic]),
  ]);
  return { id: found.issue.id, epic: presentEpic(shown!, baseUrl, epic.access.group), issue: issue! };
}

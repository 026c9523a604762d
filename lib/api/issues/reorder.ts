import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { endpoint } from '../endpoint.ts';
import { ofIssue } from './params.ts';
import { presentedIssue } from './presented.ts';
import * as shapes from './shapes.ts';

const NEIGHBOURS = ['move_after_id', 'move_before_id'] as const;

const reorder = endpoint({
  method: 'PUT',
  path: '/projects/:id/issues/:issue_iid/reorder',
  area: 'issues',
  summary: 'Reorder an issue',
  description: 'In the order that lists show with `order_by=relative_position`.',
  access: project('read_issues'),
  params: ofIssue,
  body: () =>
    p.params(
      {
        move_after_id: p.integer({ description: 'ID of the issue of the project that comes after this one' }),
        move_before_id: p.integer({
          description: 'ID of the issue of the project that comes before this one',
        }),
      },
      [p.atLeastOneOf(...NEIGHBOURS)],
    ),
  returns: { body: shapes.issue },
  errors: [
    { status: 404, description: 'Issue not found' },
    { status: 409, description: 'Others keep changing the issues' },
    { status: 422, description: 'None of the IDs is that of another issue of the project' },
  ],
  handle: async ({ actor, project, params, body, request }, deps) => {
    const neighbours = { beforeId: body.move_before_id, afterId: body.move_after_id };
    const { reorderIssue } = await import('../../domain/issues/reorder.ts');
    const found = await reorderIssue(deps, actor, project, params.issue_iid, neighbours);
    return presentedIssue(deps, actor, found, request.baseUrl);
  },
});

export const issueReorderEndpoints = [reorder];

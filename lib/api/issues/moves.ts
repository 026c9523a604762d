import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { endpoint } from '../endpoint.ts';
import { ofIssue } from './params.ts';
import { presentedIssue } from './presented.ts';
import * as shapes from './shapes.ts';

const area = 'issues';
const errors = [
  {
    status: 400,
    description: 'It may not be, for example because the caller is no Reporter of both projects',
  },
  { status: 404, description: 'Issue or project not found' },
  { status: 409, description: 'Others keep changing the issue' },
];
const toProject = () => p.integer({ required: true, description: 'ID of the project that it comes to' });

const move = endpoint({
  method: 'POST',
  path: '/projects/:id/issues/:issue_iid/move',
  area,
  summary: 'Move an issue to another project',
  description:
    'Returns the new issue, which takes the place of this one; notes and files follow shortly. This one is closed.',
  access: project('read_issues'),
  params: ofIssue,
  body: () => p.params({ to_project_id: toProject() }),
  returns: { status: 201, body: shapes.issue },
  errors,
  handle: async ({ actor, project, params, body, request }, deps) => {
    const { moveIssue } = await import('../../domain/issue-moves/move.ts');
    const found = await moveIssue(deps, actor, project, params.issue_iid, body.to_project_id);
    return presentedIssue(deps, actor, found, request.baseUrl);
  },
});

const clone = endpoint({
  method: 'POST',
  path: '/projects/:id/issues/:issue_iid/clone',
  area,
  summary: 'Clone an issue',
  description: "Into the same project or another one. The clone is the caller's, and open.",
  access: project('read_issues'),
  params: ofIssue,
  body: () =>
    p.params({
      to_project_id: toProject(),
      with_notes: p.boolean({ default: false, description: 'Whether its notes are copied, shortly after' }),
    }),
  returns: { status: 201, body: shapes.issue },
  errors,
  handle: async ({ actor, project, params, body, request }, deps) => {
    const options = { withNotes: body.with_notes };
    const { cloneIssue } = await import('../../domain/issue-moves/move.ts');
    const found = await cloneIssue(deps, actor, project, params.issue_iid, body.to_project_id, options);
    return presentedIssue(deps, actor, found, request.baseUrl);
  },
});

export const issueMoveEndpoints = [move, clone];

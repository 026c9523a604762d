import type { ProjectAccess } from '../../domain/access/types.ts';
import { issueWithActions } from '../../domain/quick-actions/issues.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { awardEndpoints } from '../award-emoji/endpoints.ts';
import { discussionEndpoints, type NotedPath } from '../notes/discussions.ts';
import { noteEndpoints } from '../notes/notes.ts';
import { resourceEventEndpoints } from '../notes/resource-events.ts';

/** What is served below an issue, the same as below other objects that people talk about. */
export const onIssue: NotedPath<ProjectAccess> = {
  path: '/projects/:id/issues/:issue_iid',
  area: 'issues',
  object: 'an issue',
  missing: 'Issue',
  access: project('read_issues'),
  params: () => ({
    issue_iid: p.integer({ required: true, description: 'Number of the issue in the project' }),
  }),
  open: (deps, actor, access, { issue_iid }) => issueWithActions(deps, actor, access, Number(issue_iid)),
};

export const issueNoteEndpoints = [
  ...noteEndpoints(onIssue),
  ...discussionEndpoints(onIssue),
  ...awardEndpoints(onIssue),
  ...resourceEventEndpoints(onIssue, ['label', 'state', 'milestone', 'iteration', 'weight']),
];

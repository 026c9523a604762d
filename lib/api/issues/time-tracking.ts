import { getIssue } from '../../domain/issues/issues.ts';
import { trackTime } from '../../domain/issues/time-tracking.ts';
import { project } from '../../http/access.ts';
import { timeEndpoints } from '../tracked/time-tracking.ts';

export const issueTimeEndpoints = timeEndpoints({
  path: '/projects/:id/issues/:issue_iid',
  area: 'issues',
  object: 'an issue',
  missing: 'Issue',
  access: project('read_issues'),
  readers: project('read_issues', { anonymous: true }),
  number: 'issue_iid',
  get: async (deps, actor, access, iid) => (await getIssue(deps, actor, access, iid)).issue,
  track: trackTime,
});

import { isAdministrator } from '../../domain/actor.ts';
import { forbidden, notFound } from '../../domain/errors.ts';
import { getIssue } from '../../domain/issues/issues.ts';
import { project } from '../../http/access.ts';
import { endpoint } from '../endpoint.ts';
import { shownUserAgent, userAgentDetail } from '../user-agent-detail.ts';
import { ofIssue } from './params.ts';

export const userAgentEndpoint = endpoint({
  method: 'GET',
  path: '/projects/:id/issues/:issue_iid/user_agent_detail',
  area: 'issues',
  summary: 'Get the user agent that an issue was created with',
  description:
    'For administrators. There is none of an issue that was moved, cloned or created by a program that does not name itself.',
  access: project('read_issues'),
  params: ofIssue,
  returns: { body: userAgentDetail },
  errors: [{ status: 404, description: 'Issue not found, or nothing was recorded' }],
  handle: async ({ actor, project, params }, deps) => {
    if (!isAdministrator(actor)) throw forbidden();
    const { issue } = await getIssue(deps, actor, project, params.issue_iid);
    const found = await deps.store.userAgents.get(issue);
    if (found === undefined) throw notFound('UserAgentDetail');
    return shownUserAgent(found);
  },
});

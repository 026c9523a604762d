import * as z from 'zod';
import { isAdministrator } from '../../domain/actor.ts';
import { forbidden, notFound } from '../../domain/errors.ts';
import { getIssue } from '../../domain/issues/issues.ts';
import { project } from '../../http/access.ts';
import { shape } from '../../http/shape.ts';
import { endpoint } from '../endpoint.ts';
import { ofIssue } from './params.ts';

const userAgentDetail = shape(() =>
  z
    .object({ user_agent: z.string(), ip_address: z.string(), akismet_submitted: z.boolean() })
    .meta({ id: 'UserAgentDetail' }),
);

export const userAgentEndpoint = endpoint({
  method: 'GET',
  path: '/projects/:id/issues/:issue_iid/user_agent_detail',
  area: 'issues',
  summary: 'Get the user agent that an issue was created with',
  description: 'For administrators. Not recorded, so there is none of any issue.',
  access: project('read_issues'),
  params: ofIssue,
  returns: { body: userAgentDetail },
  errors: [{ status: 404, description: 'Issue not found, or nothing was recorded' }],
  handle: async ({ actor, project, params }, deps): Promise<never> => {
    if (!isAdministrator(actor)) throw forbidden();
    await getIssue(deps, actor, project, params.issue_iid);
    throw notFound('UserAgentDetail');
  },
});

import { getMergeRequest } from '../../domain/merge-requests/find.ts';
import { project } from '../../http/access.ts';
import { endpoint } from '../endpoint.ts';
import * as issueShapes from '../issues/shapes.ts';
import { ofMergeRequest } from './params.ts';

const closesIssues = endpoint({
  method: 'GET',
  path: '/projects/:id/merge_requests/:merge_request_iid/closes_issues',
  area: 'merge-request-changes',
  summary: 'List the issues that a merge request closes when it is merged',
  description:
    'Those that its title, its description or the messages of its newest 100 commits say they close, as far as the caller sees them; none unless the target is the default branch.',
  access: project('read_merge_requests'),
  params: ofMergeRequest,
  returns: { body: issueShapes.issues },
  paginate: 'offset',
  errors: [{ status: 404, description: 'Merge request not found' }],
  handle: async ({ actor, project: access, params, page, request }, deps) => {
    const { mergeRequest } = await getMergeRequest(deps, actor, access, params.merge_request_iid);
    const { baseUrl } = request;
    // Few requests to this function show issues.
    const [{ issuesToBeClosed }, { presentedIssues }] = await Promise.all([
      import('../../domain/references/to-be-closed.ts'),
      import('../issues/presented.ts'),
    ]);
    const found = await issuesToBeClosed(deps, { actor, project: access, baseUrl }, mergeRequest);
    const shown = found.slice(page.offset, page.offset + page.perPage);
    const askedIn = { kind: 'project', id: access.project.id } as const;
    return { items: await presentedIssues(deps, actor, shown, baseUrl, askedIn), total: found.length };
  },
});

export const mergeRequestClosesIssuesEndpoints = [closesIssues];

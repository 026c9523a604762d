import { getIssue } from '../../domain/issues/issues.ts';
import { project } from '../../http/access.ts';
import { endpoint } from '../endpoint.ts';
import { ofIssue } from '../issues/params.ts';
import * as shapes from './shapes.ts';

const of = (name: 'related_merge_requests' | 'closed_by', summary: string) =>
  endpoint({
    method: 'GET',
    path: `/projects/:id/issues/:issue_iid/${name}`,
    area: 'issues',
    summary,
    description: 'At most 100, the newest first.',
    access: project('read_issues', { anonymous: true }),
    params: ofIssue,
    returns: { body: shapes.mergeRequests },
    paginate: 'offset',
    errors: [{ status: 404, description: 'Issue not found' }],
    handle: async ({ actor, project, params, page, request }, deps) => {
      const issue = await getIssue(deps, actor, project, params.issue_iid);
      const { baseUrl } = request;
      // Few requests to this function show merge requests.
      const [{ relatedMergeRequests, closingMergeRequests }, { presentedMergeRequests }] = await Promise.all([
        import('../../domain/merge-requests/of-issues.ts'),
        import('./presented.ts'),
      ]);
      const found =
        name === 'closed_by'
          ? await closingMergeRequests(deps, actor, issue)
          : await relatedMergeRequests(deps, actor, issue);
      const from = (page.page - 1) * page.perPage;
      const shown = found.slice(from, from + page.perPage);
      const askedIn = { kind: 'project', id: project.project.id } as const;
      const items = await presentedMergeRequests(deps, shown, baseUrl, askedIn);
      return { items, total: found.length, more: from + page.perPage < found.length };
    },
  });

export const mergeRequestOfIssueEndpoints = [
  of('related_merge_requests', 'List merge requests related to an issue'),
  of('closed_by', 'List merge requests that close an issue when they are merged'),
];

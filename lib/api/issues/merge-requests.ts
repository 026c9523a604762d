import * as z from 'zod';
import { getIssue } from '../../domain/issues/issues.ts';
import { project } from '../../http/access.ts';
import { shape } from '../../http/shape.ts';
import { endpoint } from '../endpoint.ts';
import { ofIssue } from './params.ts';

const mergeRequests = shape(() => z.array(z.looseObject({ id: z.int(), iid: z.int() })));

/** There are no merge requests yet. */
const of = (name: string, summary: string) =>
  endpoint({
    method: 'GET',
    path: `/projects/:id/issues/:issue_iid/${name}`,
    area: 'issues',
    summary,
    description: 'Empty: there are no merge requests yet.',
    access: project('read_issues', { anonymous: true }),
    params: ofIssue,
    returns: { body: mergeRequests },
    paginate: 'offset',
    errors: [{ status: 404, description: 'Issue not found' }],
    handle: async ({ actor, project, params }, deps) => {
      await getIssue(deps, actor, project, params.issue_iid);
      return { items: [], total: 0, more: false };
    },
  });

export const issueMergeRequestEndpoints = [
  of('related_merge_requests', 'List merge requests related to an issue'),
  of('closed_by', 'List merge requests that close an issue when they are merged'),
];

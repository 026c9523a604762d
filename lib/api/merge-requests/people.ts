import * as z from 'zod';
import { conversationOf } from '../../domain/merge-requests/conversation.ts';
import { getMergeRequest } from '../../domain/merge-requests/find.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { shape } from '../../http/shape.ts';
import { endpoint } from '../endpoint.ts';
import { conversationEndpoints } from '../notes/subscriptions.ts';
import { userBasic } from '../users/present.ts';
import * as userShapes from '../users/shapes.ts';
import { ofMergeRequest } from './params.ts';
import { presentedMergeRequest } from './presented.ts';
import * as shapes from './shapes.ts';

const area = 'merge-request-changes';
const path = '/projects/:id/merge_requests/:merge_request_iid' as const;
const errors = [{ status: 404, description: 'Merge request not found' }];

const conversation = conversationEndpoints({
  path,
  area,
  object: 'a merge request',
  missing: 'Merge request',
  access: project('read_merge_requests'),
  readers: project('read_merge_requests'),
  params: () => ({
    merge_request_iid: p.integer({
      required: true,
      description: 'Number of the merge request in the project',
    }),
  }),
  shape: shapes.mergeRequest,
  open: (deps, actor, access, { merge_request_iid }) =>
    getMergeRequest(deps, actor, access, Number(merge_request_iid)),
  conversation: conversationOf,
  present: presentedMergeRequest,
});

const reviewer = () =>
  z
    .object({
      user: userShapes.userBasic(),
      state: z.enum(['unreviewed', 'approved']),
      created_at: userShapes
        .time()
        .nullable()
        .describe('Null: it is not known when the review was asked for'),
    })
    .meta({ id: 'Reviewer' });

const reviewers = endpoint({
  method: 'GET',
  path: `${path}/reviewers`,
  area,
  summary: 'List the reviewers of a merge request',
  access: project('read_merge_requests'),
  params: ofMergeRequest,
  returns: { body: shape(() => z.array(reviewer())) },
  errors,
  handle: async ({ actor, project, params, request }, deps) => {
    const { mergeRequest } = await getMergeRequest(deps, actor, project, params.merge_request_iid);
    const users = await deps.store.users.getMany(mergeRequest.reviewerIds);
    const approved = new Set(mergeRequest.approvals.map(({ userId }) => userId));
    return users
      .filter((user) => user !== undefined)
      .map((user) => ({
        user: userBasic(user, request.baseUrl),
        state: approved.has(user.id) ? 'approved' : 'unreviewed',
        created_at: null,
      }));
  },
});

export const mergeRequestPeopleEndpoints = [...conversation, reviewers];

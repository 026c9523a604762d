import type { ProjectAccess } from '../../domain/access/types.ts';
import { mergeRequestWithActions } from '../../domain/quick-actions/merge-requests.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { awardEndpoints } from '../award-emoji/endpoints.ts';
import { discussionEndpoints, type NotedPath } from '../notes/discussions.ts';
import { noteEndpoints } from '../notes/notes.ts';
import { diffPositions } from '../notes/position.ts';
import { resourceEventEndpoints } from '../notes/resource-events.ts';

/** What is served below a merge request, the same as below other objects that people talk about. */
const onMergeRequest: NotedPath<ProjectAccess> = {
  path: '/projects/:id/merge_requests/:merge_request_iid',
  area: 'merge-request-notes',
  object: 'a merge request',
  missing: 'Merge request',
  inDiff: diffPositions,
  updatesText: true,
  access: project('read_merge_requests'),
  params: () => ({
    merge_request_iid: p.integer({
      required: true,
      description: 'Number of the merge request in the project',
    }),
  }),
  open: (deps, actor, access, { merge_request_iid }) =>
    mergeRequestWithActions(deps, actor, access, Number(merge_request_iid)),
};

export const mergeRequestNoteEndpoints = [
  ...noteEndpoints(onMergeRequest),
  ...discussionEndpoints(onMergeRequest),
  ...awardEndpoints(onMergeRequest),
  ...resourceEventEndpoints(onMergeRequest, ['label', 'state', 'milestone']),
];

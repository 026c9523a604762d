import { getMergeRequest } from '../../domain/merge-requests/find.ts';
import { trackTime } from '../../domain/merge-requests/time-tracking.ts';
import { project } from '../../http/access.ts';
import { timeEndpoints } from '../tracked/time-tracking.ts';

export const mergeRequestTimeEndpoints = timeEndpoints({
  path: '/projects/:id/merge_requests/:merge_request_iid',
  area: 'merge-requests',
  object: 'a merge request',
  missing: 'Merge request',
  access: project('read_merge_requests'),
  readers: project('read_merge_requests'),
  number: 'merge_request_iid',
  get: async (deps, actor, access, iid) => (await getMergeRequest(deps, actor, access, iid)).mergeRequest,
  track: trackTime,
});

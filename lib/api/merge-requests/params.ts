import * as p from '../../http/params.ts';

/** The path of one merge request. */
export const ofMergeRequest = () => p.params(mergeRequestFields());

export const mergeRequestFields = () => ({
  id: p.string({ required: true, description: 'ID or URL-encoded full path of the project' }),
  merge_request_iid: p.integer({ required: true, description: 'Number of the merge request in the project' }),
});

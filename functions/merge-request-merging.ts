import { mergeRequestContextCommitEndpoints } from '../lib/api/merge-requests/context-commits.ts';
import { mergeRequestMergingEndpoints } from '../lib/api/merge-requests/merging.ts';
import { apiFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = apiFunction({
  endpoints: [...mergeRequestMergingEndpoints, ...mergeRequestContextCommitEndpoints],
  deps,
});

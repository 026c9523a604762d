import { commitEndpoints } from '../lib/api/commits/endpoints.ts';
import { mergeRequestOfCommitEndpoints } from '../lib/api/merge-requests/of-commits.ts';
import { statusEndpoints } from '../lib/api/pipelines/commit-statuses.ts';
import { signatureEndpoints } from '../lib/api/signatures/endpoints.ts';
import { apiFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = apiFunction({
  endpoints: [
    ...commitEndpoints,
    ...mergeRequestOfCommitEndpoints,
    ...statusEndpoints,
    ...signatureEndpoints,
  ],
  deps,
});

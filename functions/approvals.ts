import { approvalEndpoints } from '../lib/api/approvals/endpoints.ts';
import { mergeRequestApprovalEndpoints } from '../lib/api/approvals/of-merge-requests.ts';
import { apiFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = apiFunction({
  endpoints: [...approvalEndpoints, ...mergeRequestApprovalEndpoints],
  deps,
});

import { approvalEndpoints } from '../lib/api/approvals/endpoints.ts';
import { apiFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = apiFunction({ endpoints: approvalEndpoints, deps });

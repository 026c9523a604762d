import { branchEndpoints } from '../lib/api/branches/endpoints.ts';
import { apiFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = apiFunction({ endpoints: branchEndpoints, deps });

import { memberEndpoints } from '../lib/api/members/endpoints.ts';
import { apiFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = apiFunction({ endpoints: memberEndpoints, deps });

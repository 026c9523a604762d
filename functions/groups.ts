import { groupEndpoints } from '../lib/api/groups/endpoints.ts';
import { apiFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = apiFunction({ endpoints: groupEndpoints, deps });

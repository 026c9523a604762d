import { userEndpoints } from '../lib/api/users/endpoints.ts';
import { apiFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = apiFunction({ endpoints: userEndpoints, deps });

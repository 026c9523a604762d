import { commitEndpoints } from '../lib/api/commits/endpoints.ts';
import { apiFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = apiFunction({ endpoints: commitEndpoints, deps });

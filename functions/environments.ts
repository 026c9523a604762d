import { environmentEndpoints } from '../lib/api/environments/endpoints.ts';
import { apiFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = apiFunction({ endpoints: environmentEndpoints, deps });

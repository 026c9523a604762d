import { tokenEndpoints } from '../lib/api/tokens/endpoints.ts';
import { apiFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = apiFunction({ endpoints: tokenEndpoints, deps });

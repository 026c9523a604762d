import { mergeRequestEndpoints } from '../lib/api/merge-requests/endpoints.ts';
import { apiFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = apiFunction({ endpoints: mergeRequestEndpoints, deps });

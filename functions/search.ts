import { searchEndpoints } from '../lib/api/search/endpoints.ts';
import { apiFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = apiFunction({ endpoints: searchEndpoints, deps });

import { suggestionEndpoints } from '../lib/api/suggestions/endpoints.ts';
import { apiFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = apiFunction({ endpoints: suggestionEndpoints, deps });

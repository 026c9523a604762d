import { wikiEndpoints } from '../lib/api/wikis/endpoints.ts';
import { apiFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = apiFunction({ endpoints: wikiEndpoints, deps });

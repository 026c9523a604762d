import { changelogEndpoints } from '../lib/api/changelog/endpoints.ts';
import { apiFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = apiFunction({ endpoints: changelogEndpoints, deps });

import { groupSsoEndpoints } from '../lib/api/group-sso/endpoints.ts';
import { apiFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = apiFunction({ endpoints: groupSsoEndpoints, deps });

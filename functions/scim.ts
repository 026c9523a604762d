import { scimAlias } from '../lib/api/scim/alias.ts';
import { scimEndpoints } from '../lib/api/scim/endpoints.ts';
import { apiFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = apiFunction({ endpoints: scimEndpoints, alias: scimAlias, deps });

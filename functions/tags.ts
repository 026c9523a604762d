import { tagSignatureEndpoints } from '../lib/api/signatures/endpoints.ts';
import { tagEndpoints } from '../lib/api/tags/endpoints.ts';
import { apiFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = apiFunction({
  endpoints: [...tagEndpoints, ...tagSignatureEndpoints],
  deps,
});

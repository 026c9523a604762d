import { packageEndpoints } from '../lib/api/packages/endpoints.ts';
import { releaseEndpoints } from '../lib/api/releases/endpoints.ts';
import { apiFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = apiFunction({
  endpoints: [...releaseEndpoints, ...packageEndpoints],
  deps,
});

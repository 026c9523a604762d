import { uploadAlias, uploadEndpoints } from '../lib/api/avatars/endpoints.ts';
import { apiFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = apiFunction({ endpoints: uploadEndpoints, alias: uploadAlias, deps });

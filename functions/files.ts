import { fileEndpoints } from '../lib/api/files/endpoints.ts';
import { apiFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = apiFunction({ endpoints: fileEndpoints, deps });

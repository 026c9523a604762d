import { ciConfigEndpoints } from '../lib/api/ci-config/endpoints.ts';
import { apiFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = apiFunction({ endpoints: ciConfigEndpoints, deps });

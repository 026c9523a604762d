import { repositoryEndpoints } from '../lib/api/repository/endpoints.ts';
import { apiFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = apiFunction({ endpoints: repositoryEndpoints, deps });

import { artifactEndpoints } from '../lib/api/artifacts/endpoints.ts';
import { jobEndpoints } from '../lib/api/jobs/endpoints.ts';
import { apiFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = apiFunction({ endpoints: [...jobEndpoints, ...artifactEndpoints], deps });

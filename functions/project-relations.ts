import { projectRelationEndpoints } from '../lib/api/project-relations/endpoints.ts';
import { apiFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = apiFunction({ endpoints: projectRelationEndpoints, deps });

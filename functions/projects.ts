import { forkEndpoints } from '../lib/api/forks/endpoints.ts';
import { projectEndpoints } from '../lib/api/projects/endpoints.ts';
import { fetchEndpoints } from '../lib/api/statistics/endpoints.ts';
import { projectTemplateEndpoints } from '../lib/api/templates/endpoints.ts';
import { projectUploadEndpoints } from '../lib/api/uploads/endpoints.ts';
import { apiFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = apiFunction({
  endpoints: [
    ...projectEndpoints,
    ...forkEndpoints,
    ...projectTemplateEndpoints,
    ...projectUploadEndpoints,
    ...fetchEndpoints,
  ],
  deps,
});

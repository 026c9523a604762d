import { projectArtifactEndpoints } from '../lib/api/artifacts/of-project.ts';
import { forkEndpoints } from '../lib/api/forks/endpoints.ts';
import { projectEndpoints } from '../lib/api/projects/endpoints.ts';
import { fetchEndpoints } from '../lib/api/statistics/endpoints.ts';
import { projectMoveEndpoints } from '../lib/api/storage-moves/of-projects.ts';
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
    ...projectMoveEndpoints,
    ...projectArtifactEndpoints,
  ],
  deps,
});

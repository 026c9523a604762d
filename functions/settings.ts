import { settingEndpoints } from '../lib/api/settings/endpoints.ts';
import { allGroupMoveEndpoints } from '../lib/api/storage-moves/of-groups.ts';
import { allProjectMoveEndpoints } from '../lib/api/storage-moves/of-projects.ts';
import { apiFunction } from '../lib/http/function.ts';
import { depsWithSecrets } from './deps-with-secrets.ts';

export const { handler, fetch } = apiFunction({
  endpoints: [...settingEndpoints, ...allProjectMoveEndpoints, ...allGroupMoveEndpoints],
  deps: depsWithSecrets,
});

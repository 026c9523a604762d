import type { Endpoint } from '../http/endpoint.ts';
import { branchEndpoints } from './branches/endpoints.ts';
import { commitEndpoints } from './commits/endpoints.ts';
import type { ApiDeps } from './endpoint.ts';
import { fileEndpoints } from './files/endpoints.ts';
import { memberEndpoints } from './members/endpoints.ts';
import { metaEndpoints } from './meta/endpoints.ts';
import { projectEndpoints } from './projects/endpoints.ts';
import { repositoryEndpoints } from './repository/endpoints.ts';
import { tagEndpoints } from './tags/endpoints.ts';
import { userEndpoints } from './users/endpoints.ts';

/** Every endpoint of the service, by area. */
export const allEndpoints: readonly Endpoint<ApiDeps>[] = [
  ...metaEndpoints(async () => allEndpoints),
  ...userEndpoints,
  ...projectEndpoints,
  ...memberEndpoints,
  ...fileEndpoints,
  ...commitEndpoints,
  ...repositoryEndpoints,
  ...branchEndpoints,
  ...tagEndpoints,
];

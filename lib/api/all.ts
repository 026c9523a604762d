import type { Endpoint } from '../http/endpoint.ts';
import type { ApiDeps } from './endpoint.ts';
import { memberEndpoints } from './members/endpoints.ts';
import { metaEndpoints } from './meta/endpoints.ts';
import { projectEndpoints } from './projects/endpoints.ts';
import { userEndpoints } from './users/endpoints.ts';

/** Every endpoint of the service, by area. */
export const allEndpoints: readonly Endpoint<ApiDeps>[] = [
  ...metaEndpoints(async () => allEndpoints),
  ...userEndpoints,
  ...projectEndpoints,
  ...memberEndpoints,
];

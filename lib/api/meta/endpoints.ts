import { anyone, signedIn } from '../../http/access.ts';
import { compressedJson } from '../../http/compressed.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import type { OpenApiDocument } from '../../http/openapi-document.ts';
import { API_ROOT } from '../../http/router.ts';
import { type ApiDeps, endpoint } from '../endpoint.ts';
import { API_RELEASE, VERSION } from '../version.ts';
import { queueMetricEndpoints } from './queue-metrics.ts';
import * as shapes from './shapes.ts';

const area = 'meta';

const version = endpoint({
  method: 'GET',
  path: '/version',
  area,
  summary: 'Get the release',
  description:
    'The release of the interface this service speaks, as clients compare it, and its own revision.',
  access: signedIn(),
  scopes: ['read_user'],
  returns: { body: shapes.version },
  handle: () => ({ version: API_RELEASE, revision: VERSION }),
});

const metadata = endpoint({
  method: 'GET',
  path: '/metadata',
  area,
  summary: 'Get facts about the instance',
  access: signedIn(),
  scopes: ['read_user'],
  returns: { body: shapes.metadata },
  handle: () => ({
    version: API_RELEASE,
    revision: VERSION,
    kas: { enabled: false, externalUrl: null, externalK8sProxyUrl: null, version: null },
    enterprise: false,
  }),
});

/**
 * The endpoints of this area.
 * @param describe the document of the whole service; called only when it is requested
 */
export const metaEndpoints = (describe: () => Promise<OpenApiDocument>): readonly Endpoint<ApiDeps>[] => [
  version,
  metadata,
  ...queueMetricEndpoints,
  endpoint({
    method: 'GET',
    path: '/openapi.json',
    area,
    summary: 'Get this interface as an OpenAPI 3.1 document',
    access: anyone(),
    scopes: ['read_user'],
    returns: { body: shapes.openapi },
    handle: async ({ request }) =>
      compressedJson({ ...(await describe()), servers: [{ url: request.baseUrl + API_ROOT }] }, request),
  }),
];

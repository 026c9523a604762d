import { makeClients } from '../../lib/store/clients.ts';
import { blobConformance } from '../store/blobs/blobs-conformance.ts';

/** The blobs' suite, unchanged, on the S3 at `CONFORMANCE_ENDPOINT`; credentials come from the environment. */
const endpoint = process.env['CONFORMANCE_ENDPOINT'];
if (endpoint === undefined) throw new Error('CONFORMANCE_ENDPOINT names no S3');

blobConformance(endpoint, async () => {
  const { s3 } = makeClients({ s3: { endpoint, forcePathStyle: true } });
  return { client: s3, close: async () => s3.destroy() };
});

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openS3 } from '@lemnos/embedded-aws/s3';
import { makeClients } from '../../../lib/store/clients.ts';
import { blobConformance } from './blobs-conformance.ts';

blobConformance('the embedded S3', async () => {
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test-secret-of-nothing' };
  const embedded = await openS3({ credentials });
  // Presigned URLs are for clients outside the process.
  const server = createServer((request, response) => embedded.httpHandler(request, response, '/_s3'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const { s3 } = makeClients({
    s3: {
      region: 'local',
      credentials,
      endpoint: `http://127.0.0.1:${port}/_s3`,
      forcePathStyle: true,
      requestHandler: embedded.requestHandler,
    },
  });
  return {
    client: s3,
    close: async () => {
      s3.destroy();
      server.close();
      await embedded.close();
    },
  };
});

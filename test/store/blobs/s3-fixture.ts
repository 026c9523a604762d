import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { S3Client } from '@aws-sdk/client-s3';
import { openS3 } from '@lemnos/embedded-aws/s3';
import { makeClients } from '../../../lib/store/clients.ts';

/** An embedded S3 with a client, which listens too: presigned URLs are for clients outside the process. */
export async function startS3(): Promise<{ readonly client: S3Client; close(): Promise<void> }> {
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test-secret-of-nothing' };
  const embedded = await openS3({ credentials });
  const server = createServer((request, response) => embedded.httpHandler(request, response, '/_s3'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const { s3: client } = makeClients({
    s3: {
      region: 'local',
      credentials,
      endpoint: `http://127.0.0.1:${port}/_s3`,
      forcePathStyle: true,
      requestHandler: embedded.requestHandler,
    },
  });
  return {
    client,
    close: async () => {
      client.destroy();
      server.close();
      await embedded.close();
    },
  };
}

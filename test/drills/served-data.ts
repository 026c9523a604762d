import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CreateBucketCommand } from '@aws-sdk/client-s3';
import { type EmbeddedDynamo, openDynamo } from '@lemnos/embedded-aws/dynamodb';
import { openS3 } from '@lemnos/embedded-aws/s3';
import { type AwsClients, makeClients } from '../../lib/store/clients.ts';
import { TABLE_TTL_ATTRIBUTE, tableDefinition } from '../../lib/store/table/schema.ts';
import { ensureTable } from '../../local/ensure-table.ts';

const credentials = { accessKeyId: 'drill', secretAccessKey: 'secret-of-the-drill' };

/** The embedded table and bucket behind HTTP, for several processes; in memory, and gone with it. */
export interface ServedData extends AsyncDisposable {
  /** What a process needs to use them. */
  readonly environment: NodeJS.ProcessEnv;
  /** For who reads it beside them. */
  readonly clients: AwsClients;
  readonly dynamo: EmbeddedDynamo;
}

export async function serveData(): Promise<ServedData> {
  const [dynamo, s3] = await Promise.all([openDynamo(), openS3({ credentials, endpointPath: '' })]);
  const servers = [createServer(dynamo.listener()), createServer((req, res) => s3.httpHandler(req, res, ''))];
  const urls = await Promise.all(
    servers.map(
      (server) =>
        new Promise<string>((resolve) => {
          server.listen(0, '127.0.0.1', () =>
            resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
          );
        }),
    ),
  );
  const config = { region: 'local', credentials };
  const clients = makeClients({
    dynamodb: { ...config, endpoint: urls[0]! },
    s3: { ...config, endpoint: urls[1]!, forcePathStyle: true },
    sqs: config,
  });
  await ensureTable(clients.dynamodb, { ...tableDefinition('lemnos'), timeToLive: TABLE_TTL_ATTRIBUTE });
  await clients.s3.send(new CreateBucketCommand({ Bucket: 'lemnos-objects' }));
  return {
    clients,
    dynamo,
    environment: {
      AWS_REGION: 'local',
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      AWS_ENDPOINT_URL_DYNAMODB: urls[0],
      AWS_ENDPOINT_URL_S3: urls[1],
      TABLE_NAME: 'lemnos',
      OBJECTS_BUCKET: 'lemnos-objects',
    },
    async [Symbol.asyncDispose]() {
      for (const server of servers) {
        server.close();
        server.closeAllConnections();
      }
      await Promise.all([dynamo.close(), s3.close()]);
    },
  };
}

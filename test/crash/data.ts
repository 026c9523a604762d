import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { CreateBucketCommand } from '@aws-sdk/client-s3';
import { CreateQueueCommand } from '@aws-sdk/client-sqs';
import { type EmbeddedDynamo, openDynamo } from '@lemnos/embedded-aws/dynamodb';
import { openS3 } from '@lemnos/embedded-aws/s3';
import { openSqs } from '@lemnos/embedded-aws/sqs';
import { areasOf } from '../../functions/areas.ts';
import { type AwsClients, makeClients } from '../../lib/store/clients.ts';
import { readEnvironment } from '../../lib/store/environment.ts';
import { createStore, type Store } from '../../lib/store/store.ts';
import { TABLE_TTL_ATTRIBUTE, tableDefinition } from '../../lib/store/table/schema.ts';
import { ensureTable } from '../../local/ensure-table.ts';

/** What a host keeps, opened without a host. */
export interface Data extends AsyncDisposable {
  readonly store: Store;
  readonly clients: AwsClients;
  readonly dynamo: EmbeddedDynamo;
}

const credentials = { accessKeyId: 'crash', secretAccessKey: 'secret-of-the-crash-suite' };

/** The folders as `local/host.ts` names them; what is not there yet is made. No host may have them open. */
export async function openData(dataDir: string): Promise<Data> {
  mkdirSync(dataDir, { recursive: true });
  const [dynamo, s3, sqs] = await Promise.all([
    openDynamo({ path: join(dataDir, 'table') }),
    openS3({ dir: join(dataDir, 'objects'), credentials, endpointPath: '/_s3' }),
    openSqs({ dir: join(dataDir, 'queues') }),
  ]);
  const config = { region: 'local', credentials };
  const clients = makeClients({
    dynamodb: { ...config, endpoint: 'http://dynamodb.local', requestHandler: dynamo.requestHandler },
    s3: {
      ...config,
      endpoint: 'http://s3.local/_s3',
      forcePathStyle: true,
      requestHandler: s3.requestHandler,
    },
    sqs: { ...config, endpoint: 'http://sqs.local', requestHandler: sqs.requestHandler },
  });
  const environment = readEnvironment({});
  await ensureTable(clients.dynamodb, {
    ...tableDefinition(environment.tableName),
    timeToLive: TABLE_TTL_ATTRIBUTE,
  });
  await clients.s3.send(new CreateBucketCommand({ Bucket: environment.objectsBucket })).catch((error) => {
    if (!/^BucketAlready/.test(error.name)) throw error;
  });
  for (const QueueName of areasOf('worker').flatMap(({ queue }) => [`${queue}-dead`, queue])) {
    await clients.sqs.send(new CreateQueueCommand({ QueueName })).catch((error) => {
      if (error.name !== 'QueueNameExists') throw error;
    });
  }
  return {
    store: createStore(environment, clients),
    clients,
    dynamo,
    async [Symbol.asyncDispose]() {
      await Promise.all([dynamo.close(), s3.close(), sqs.close()]);
    },
  };
}

import { mkdirSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { join } from 'node:path';
import { CreateBucketCommand } from '@aws-sdk/client-s3';
import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  SetQueueAttributesCommand,
} from '@aws-sdk/client-sqs';
import { areas, areasOf, type QueueName } from '../functions/areas.ts';
import { awsClients, useTransport } from '../lib/store/clients.ts';
import { readEnvironment } from '../lib/store/environment.ts';
import { createStore } from '../lib/store/store.ts';
import { STAGING_DAYS, TABLE_TTL_ATTRIBUTE, tableDefinition } from '../lib/store/table/schema.ts';
import { log } from '../lib/telemetry/log.ts';
import { drain } from './drain.ts';
import { ensureTable } from './dynamodb/ensure-table.ts';
import { type EmbeddedDynamo, openDynamo } from './dynamodb/index.ts';
import { type FunctionModule, gateway } from './gateway.ts';
import { installLambdaGlobal, lambdaContext } from './lambda.ts';
import { lockDirectory } from './lock.ts';
import { gatewayRoutes } from './routes.ts';
import { type EmbeddedS3, openS3 } from './s3/index.ts';
import { startSchedule } from './scheduler.ts';
import { type EmbeddedSes, openSes } from './ses/index.ts';
import { type EmbeddedSqs, openSqs } from './sqs/index.ts';
import { pollQueue } from './sqs/poller.ts';
import { openSsm } from './ssm/index.ts';

export interface HostOptions {
  /** Where everything is kept. */
  readonly dataDir: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly host: string;
  /** Enforce the sizes and manners of API Gateway and Lambda. */
  readonly limits?: boolean;
  /** Public base URL, when it is not the address listened on. */
  readonly baseUrl?: string;
  /** Runs workers and schedules; without them messages stay in their queues. True by default. */
  readonly background?: boolean;
}

export interface Host {
  readonly url: string;
  readonly dynamo: EmbeddedDynamo;
  readonly s3: EmbeddedS3;
  readonly sqs: EmbeddedSqs;
  readonly ses: EmbeddedSes;
  /** Invokes a function that has no HTTP face, as `aws lambda invoke` does. */
  invoke(name: string, payload: unknown): Promise<unknown>;
  stop(): Promise<void>;
}

const S3_PATH = '/_s3';
/** Below the data directory: a file for each mail. */
export const MAIL_DIR = 'mail';

/**
 * Runs all of Lemnos in this process: the embedded DynamoDB, S3 and SQS below the real SDK clients, the function
 * entries behind real gateway events, the queues' pollers and the scheduler.
 */
export async function startHost(options: HostOptions): Promise<Host> {
  mkdirSync(options.dataDir, { recursive: true, mode: 0o700 });
  const unlock = lockDirectory(options.dataDir);
  const server = createServer({ requestTimeout: 0, keepAliveTimeout: 60_000 });
  // Its port is known, and asked, before there is anything to answer with: who comes early waits.
  const ready = Promise.withResolvers<RequestListener>();
  server.on('request', (request, response) => void ready.promise.then((answer) => answer(request, response)));
  const port = await listen(server, options.port, options.host);
  const local = `http://${reachable(options.host)}:${port}`;
  const baseUrl = options.baseUrl?.replace(/\/+$/, '') ?? local;

  const [dynamo, s3, sqs] = await Promise.all([
    openDynamo({ path: join(options.dataDir, 'table') }),
    openS3({
      dir: join(options.dataDir, 'objects'),
      credentials: CREDENTIALS,
      endpointPath: `${new URL(baseUrl).pathname.replace(/\/$/, '')}${S3_PATH}`,
    }),
    openSqs({ dir: join(options.dataDir, 'queues') }),
  ]);
  const ses = openSes({ dir: join(options.dataDir, MAIL_DIR) });
  const ssm = openSsm({ dir: join(options.dataDir, 'parameters') });
  process.env['MAIL_FROM'] ??= 'Lemnos <lemnos@localhost>';
  Object.assign(process.env, {
    AWS_REGION: 'local',
    AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
    BASE_URL: baseUrl,
    STREAM: '1',
    STREAM_PUSHES: options.limits === true ? '0' : '1',
  });
  useTransport({
    dynamodb: { endpoint: 'http://dynamodb.local', requestHandler: dynamo.requestHandler },
    // A bucket is no host name here.
    s3: { endpoint: `${baseUrl}${S3_PATH}`, forcePathStyle: true, requestHandler: s3.requestHandler },
    sqs: { endpoint: 'http://sqs.local', requestHandler: sqs.requestHandler },
    ses: { endpoint: 'http://ses.local', requestHandler: ses.requestHandler },
    ssm: { endpoint: 'http://ssm.local', requestHandler: ssm.requestHandler },
  });
  installLambdaGlobal();
  await prepare();

  const modules = new Map<string, Promise<FunctionModule>>();
  const load = (entry: string) => {
    let module = modules.get(entry);
    if (module === undefined) {
      module = import(new URL(`../functions/${entry}`, import.meta.url).href) as Promise<FunctionModule>;
      modules.set(entry, module);
    }
    return module;
  };
  const serve = gateway({
    route: gatewayRoutes(areas),
    load,
    baseUrl,
    limits: options.limits === true,
    gitAuthorizer: areasOf('authorizer')[0]!.entry,
  });
  ready.resolve((request, response) => {
    if (request.url?.startsWith(`${S3_PATH}/`)) s3.httpHandler(request, response, S3_PATH);
    else void serve(request, response);
  });

  const stopping = new AbortController();
  const background =
    options.background === false
      ? []
      : [
          ...startPollers(load, stopping.signal),
          ...startSchedules(load, stopping.signal),
          startSchedule({
            name: 'time to live',
            schedule: 'rate(1 minute)',
            handler: () => dynamo.expire(),
            onError: (error) => logBackground('time to live', error),
            signal: stopping.signal,
          }),
        ];
  return {
    url: baseUrl,
    dynamo,
    s3,
    sqs,
    ses,
    async invoke(name, payload) {
      const area = areas.find((candidate) => candidate.name === name);
      if (area === undefined) throw new Error(`no function is called ${name}`);
      return (await load(area.entry)).handler(payload, lambdaContext(name, area.timeout));
    },
    async stop() {
      stopping.abort();
      await drain(server, PATIENCE_MS);
      await Promise.allSettled(background);
      await Promise.all([dynamo.close(), s3.close(), sqs.close()]);
      unlock();
    },
  };
}

const CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local-secret-of-the-embedded-parts' };
const MAX_RECEIVES = 5;
/** For requests under way when it is told to stop. */
const PATIENCE_MS = 10_000;

/** One server that takes its time does not keep the others waiting, nor one large pack the next. */
const CONCURRENCY: Partial<Record<QueueName, number>> = { outbound: 8, ingest: 2 };

/** Table, bucket and queues as the data and service stacks make them; harmless where they exist. */
async function prepare(): Promise<void> {
  const { dynamodb, s3, sqs } = awsClients();
  const { tableName, objectsBucket } = readEnvironment();
  await ensureTable(dynamodb, { ...tableDefinition(tableName), timeToLive: TABLE_TTL_ATTRIBUTE });
  await s3.send(new CreateBucketCommand({ Bucket: objectsBucket })).catch((error: Error) => {
    if (!/^BucketAlready/.test(error.name)) throw error;
  });
  for (const area of areasOf('worker')) {
    const visibility = String(Math.min(area.timeout * 6, 43_200));
    const dead = await sqs.send(new CreateQueueCommand({ QueueName: `${area.queue}-dead` }));
    const { Attributes } = await sqs.send(
      new GetQueueAttributesCommand({ QueueUrl: dead.QueueUrl, AttributeNames: ['QueueArn'] }),
    );
    process.env[queueVariable(area.queue)] = await ensureQueue(area.queue, {
      VisibilityTimeout: visibility,
      RedrivePolicy: JSON.stringify({
        deadLetterTargetArn: Attributes?.['QueueArn'],
        maxReceiveCount: MAX_RECEIVES,
      }),
    });
  }
}

/** The queue with these attributes, as a release may have changed them. */
async function ensureQueue(QueueName: string, Attributes: Record<string, string>): Promise<string> {
  const { sqs } = awsClients();
  try {
    return (await sqs.send(new CreateQueueCommand({ QueueName, Attributes }))).QueueUrl!;
  } catch (error) {
    if ((error as Error).name !== 'QueueNameExists') throw error;
    const { QueueUrl } = await sqs.send(new GetQueueUrlCommand({ QueueName }));
    await sqs.send(new SetQueueAttributesCommand({ QueueUrl, Attributes }));
    return QueueUrl!;
  }
}

const queueVariable = (name: QueueName) => `QUEUE_URL_${name.toUpperCase().replaceAll('-', '_')}`;

function startPollers(
  load: (entry: string) => Promise<FunctionModule>,
  signal: AbortSignal,
): Promise<void>[] {
  const { sqs } = awsClients();
  return areasOf('worker').map((area) =>
    pollQueue({
      client: sqs,
      queueUrl: process.env[queueVariable(area.queue)]!,
      queueArn: `arn:aws:sqs:local:000000000000:${area.queue}`,
      batchSize: area.batchSize,
      concurrency: CONCURRENCY[area.queue] ?? 1,
      timeout: area.timeout,
      functionName: area.name,
      // A failed message of a single process need not wait out a crashed function's time.
      retryAfter: 30,
      handler: async (event, context) => (await load(area.entry)).handler(event, context),
      onError: (error) => logBackground(area.name, error),
      signal,
    }),
  );
}

function startSchedules(
  load: (entry: string) => Promise<FunctionModule>,
  signal: AbortSignal,
): Promise<void>[] {
  const scheduled = areasOf('scheduled').map((area) =>
    startSchedule({
      name: area.name,
      schedule: area.schedule,
      handler: async (event) => {
        await (await load(area.entry)).handler(event, lambdaContext(area.name, area.timeout));
      },
      onError: (error) => logBackground(area.name, error),
      signal,
    }),
  );
  // The embedded bucket obeys no rules of its own.
  const sweep = startSchedule({
    name: 'staged uploads',
    schedule: 'rate(1 hour)',
    handler: async () => {
      const before = new Date(Date.now() - STAGING_DAYS * 86_400_000);
      await createStore().staging.sweep(before);
    },
    onError: (error) => logBackground('staged uploads', error),
    signal,
  });
  return [...scheduled, sweep];
}

function logBackground(name: string, error: unknown): void {
  log('error', name, { error: String(error) });
}

/** A name for the address in links: one that stands for every address is not a place to go to. */
function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

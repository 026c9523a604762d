import { createServer, type RequestListener, type Server } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CreateBucketCommand } from '@aws-sdk/client-s3';
import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  SetQueueAttributesCommand,
} from '@aws-sdk/client-sqs';
import type { EmbeddedDynamo } from '@lemnos/embedded-aws/dynamodb';
import { type EmbeddedS3, openS3 } from '@lemnos/embedded-aws/s3';
import { type EmbeddedSes, openSes } from '@lemnos/embedded-aws/ses';
import { type EmbeddedSqs, openSqs } from '@lemnos/embedded-aws/sqs';
import { openSsm } from '@lemnos/embedded-aws/ssm';
import { areas, areasOf, type QueueName, usesRepositories } from '../functions/areas.ts';
import { parseStorages } from '../lib/store/blobs/storages.ts';
import { awsClients, useTransport } from '../lib/store/clients.ts';
import { readEnvironment } from '../lib/store/environment.ts';
import { MAINTAIN_JOB } from '../lib/store/maintenance/last-runs.ts';
import { parseMessage } from '../lib/store/outbox/outbox.ts';
import { createStore } from '../lib/store/store.ts';
import {
  ARCHIVE_DAYS,
  STAGING_DAYS,
  TABLE_TTL_ATTRIBUTE,
  tableDefinition,
} from '../lib/store/table/schema.ts';
import { log } from '../lib/telemetry/log.ts';
import { Admission } from './admission.ts';
import { isTaken, openDataDirectory } from './data-directory.ts';
import { Disk } from './disk.ts';
import { drain } from './drain.ts';
import { ensureTable } from './ensure-table.ts';
import { type FunctionModule, type GatewayLimits, gateway } from './gateway.ts';
import { installLambdaGlobal, lambdaContext } from './lambda.ts';
import { loadAhead } from './load-ahead.ts';
import { pollQueue } from './poller.ts';
import { gatewayRoutes } from './routes.ts';
import { startSchedule } from './scheduler.ts';
import { FunctionThread, type FunctionThreadOptions } from './threads/function-thread.ts';
import { S3_PATH, transportsOf } from './transports.ts';

export interface HostOptions {
  /** Where all data is stored. */
  readonly dataDir: string;
  /** 0 for any free port. */
  readonly port: number;
  readonly host: string;
  /** Enforce the limits and the behaviour of API Gateway and Lambda; some with other numbers, in tests. */
  readonly limits?: boolean | Partial<GatewayLimits>;
  /** Public base URL, if it is not the address that the host listens on. */
  readonly baseUrl?: string;
  /** Runs workers and schedules; true by default. If false, messages stay in their queues. */
  readonly background?: boolean;
  /** Reads and writes of repositories, and jobs, have a thread each; false by default, which is all in this one. */
  readonly threads?: boolean;
  /** Loads functions right after the start, so that no request waits for that; false by default. */
  readonly loadAhead?: boolean;
}

export interface Host {
  readonly url: string;
  /** Resolves when the functions are loaded that are loaded ahead. */
  readonly loaded: Promise<void>;
  readonly dynamo: EmbeddedDynamo;
  readonly s3: EmbeddedS3;
  readonly sqs: EmbeddedSqs;
  readonly ses: EmbeddedSes;
  /** Invokes a function that has no HTTP interface, as `aws lambda invoke` does. */
  invoke(name: string, payload: unknown): Promise<unknown>;
  stop(): Promise<void>;
}

/** The folder of mails in the data directory: a file for each. */
export const MAIL_DIR = 'mail';

/**
 * Runs all of Lemnos in this process: the real SDK clients on the embedded AWS services, the function entries behind
 * gateway events, the pollers of the queues and the scheduler.
 */
export async function startHost(options: HostOptions): Promise<Host> {
  const data = await openDataDirectory(options.dataDir);
  const dynamo = data.table;
  const server = createServer({ requestTimeout: 0, keepAliveTimeout: 60_000 });
  // The server listens before it can answer, because the base URL needs the port: early requests wait.
  const ready = Promise.withResolvers<RequestListener>();
  server.on('request', (request, response) => void ready.promise.then((answer) => answer(request, response)));
  const port = await listen(server, options.port, options.host).catch(async (error) => {
    await data.close();
    throw error;
  });
  const local = `http://${reachable(options.host)}:${port}`;
  const baseUrl = options.baseUrl?.replace(/\/+$/, '') ?? local;

  const stopping = new AbortController();
  const recover = () => dynamo.reopen().catch((error) => endWhereTaken(error, options.dataDir));
  const disk = new Disk(options.dataDir, recover, stopping.signal);
  const noted = (service: string) => (error: unknown) => disk.note(service, error);
  dynamo.onError = noted('table');
  const objects = {
    dir: join(options.dataDir, 'objects'),
    endpointPath: `${new URL(baseUrl).pathname.replace(/\/$/, '')}${S3_PATH}`,
  };
  const [s3, sqs] = await Promise.all([
    openS3({
      ...objects,
      credentials: CREDENTIALS,
      onError: noted('bucket'),
    }),
    openSqs({ dir: join(options.dataDir, 'queues'), onError: noted('queues') }),
  ]);
  const ses = openSes({ dir: join(options.dataDir, MAIL_DIR) });
  const ssm = openSsm({ dir: join(options.dataDir, 'parameters') });
  process.env['MAIL_FROM'] ??= 'Lemnos <lemnos@localhost>';
  const limited = options.limits !== undefined && options.limits !== false;
  Object.assign(process.env, {
    AWS_REGION: 'local',
    AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
    BASE_URL: baseUrl,
    STREAM: '1',
    STREAM_PUSHES: limited ? '0' : '1',
    ...(limited && { MAX_FETCH_BYTES: process.env['MAX_FETCH_BYTES'] ?? '195000000' }),
  });
  const services = {
    dynamodb: dynamo.requestHandler,
    s3: s3.requestHandler,
    sqs: sqs.requestHandler,
    ses: ses.requestHandler,
    ssm: ssm.requestHandler,
  };
  useTransport(transportsOf(services, baseUrl));
  installLambdaGlobal();
  await prepare();

  const functions = new URL('../functions/', import.meta.url);
  if (options.threads === true) process.env['PACK_CACHE_MB'] = String(PACK_CACHES.others);
  const threads = options.threads === true ? threadsOf({ functions, services, baseUrl, objects }) : undefined;
  const modules = new Map<string, Promise<FunctionModule>>();
  const load = (entry: string) => {
    const thread = threads?.get(entry);
    if (thread !== undefined) return thread.load(entry);
    let module = modules.get(entry);
    if (module === undefined) {
      module = import(new URL(entry, functions).href) as Promise<FunctionModule>;
      modules.set(entry, module);
    }
    return module;
  };
  const serve = gateway({
    route: gatewayRoutes(areas),
    load,
    baseUrl,
    limits: options.limits ?? false,
    gitAuthorizer: areasOf('authorizer')[0]!.entry,
    refusal: () => disk.problem,
    ...(threads && { admission: admissions(threads) }),
  });
  const begun = Date.now();
  ready.resolve((request, response) => {
    if (request.url?.startsWith(`${S3_PATH}/`)) {
      // The bucket has the API's own host here, so clients that follow a redirect send their credential along.
      if (request.url.includes('X-Amz-Signature=')) delete request.headers.authorization;
      s3.httpHandler(request, response, S3_PATH);
    } else void serve(request, response);
  });

  // The thread of jobs starts with the first of them.
  const ahead = areas.filter(
    ({ kind }) => kind !== 'command' && (threads === undefined || kind !== 'worker'),
  );
  const loaded =
    options.loadAhead === true
      ? loadAhead(
          ahead.map(({ entry }) => entry),
          { load, onError: logBackground, signal: stopping.signal },
        )
      : Promise.resolve();
  const background =
    options.background === false
      ? []
      : [
          sendLeft(load, begun),
          ...startPollers(load, disk, stopping.signal),
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
    loaded,
    dynamo,
    s3,
    sqs,
    ses,
    async invoke(name, payload) {
      const area = areas.find((candidate) => candidate.name === name);
      if (area === undefined) throw new Error(`no function is named ${name}`);
      return (await load(area.entry)).handler(payload, lambdaContext(name, area.timeout));
    },
    async stop() {
      stopping.abort();
      const end = sleep(STOP_TIMEOUT_MS, undefined, { ref: false });
      await Promise.all([
        drain(server, DRAIN_TIMEOUT_MS),
        // A job that goes on loses its data under it, as when the host is killed: its message is delivered again.
        Promise.race([Promise.allSettled([loaded, ...background]), end]),
      ]);
      await Promise.all([...new Set(threads?.values())].map((thread) => thread.end()));
      await Promise.race([Promise.all([s3.close(), sqs.close()]), end]);
      await data.close();
    },
  };
}

/**
 * While a table is opened again its lock is free for a moment. What this process knows of buckets and queues is not what
 * another one, which has taken it, makes of them.
 * @throws the error, when it is another one
 */
function endWhereTaken(error: unknown, directory: string): void {
  if (!isTaken(error)) throw error;
  log('error', 'another process has opened the data directory: this one ends', { directory });
  process.exit(1);
}

const CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local-secret-of-the-embedded-parts' };
/**
 * How often a message is received before it counts as dead. Long jobs are received ahead of their turn, and each end of
 * the host before it counts for all that wait.
 */
const MAX_RECEIVES = 5;
const MAX_RECEIVES_AHEAD = 100;
/** How long requests under way may take when the host stops. */
const DRAIN_TIMEOUT_MS = 7_000;
/** How long all that is under way may take: service managers and container runtimes kill after ten seconds. */
const STOP_TIMEOUT_MS = 9_000;

/** Batches processed at the same time, so that one slow server or one large pack does not delay the others; 1 by default. */
const CONCURRENCY: Partial<Record<QueueName, number>> = { maintenance: 4, outbound: 8, ingest: 2 };
/** Jobs that may take minutes. No other job waits for one of them, and only one runs at a time. */
const LONG_JOBS: ReadonlySet<string> = new Set([MAINTAIN_JOB]);

/**
 * What threads keep of packs, in MB: jobs read what was pushed last, and the functions of the first thread hardly anything.
 */
const PACK_CACHES = { repositories: 448, jobs: 96, others: 32 };
/** What no request has read for one or two minutes is read anew. */
const REPOSITORIES = {
  name: 'repositories',
  packCache: PACK_CACHES.repositories,
  givesBack: 60_000,
  // Under more requests than can be served, what waits takes memory too.
  most: 930 * 2 ** 20,
};
/** Jobs give way to requests, and take no memory when there is nothing to do. */
const JOBS = { name: 'jobs', niceness: 5, idle: 60_000, packCache: PACK_CACHES.jobs };

/** The threads of entries: what works on repositories would hold up the rest, and jobs would hold up both. */
function threadsOf(
  shared: Pick<FunctionThreadOptions, 'functions' | 'services' | 'baseUrl' | 'objects'>,
): ReadonlyMap<string, FunctionThread> {
  const repositories = new FunctionThread({ ...REPOSITORIES, ...shared });
  const jobs = new FunctionThread({ ...JOBS, ...shared });
  return new Map<string, FunctionThread>([
    ...areasOf('api')
      .filter(usesRepositories)
      .map(({ entry }) => [entry, repositories] as const),
    ...areasOf('worker').map(({ entry }) => [entry, jobs] as const),
  ]);
}

/**
 * Few at a time work on repositories, because each of them may take its thread for as long as all others. What waits for
 * more than two seconds waits behind more than can be served.
 */
const PATIENCE = { patience: 2000, turn: 2000, longest: 5000, waiting: 1000 };

/** The queues of requests: one for each thread that serves them. */
function admissions(threads: ReadonlyMap<string, FunctionThread>): (entry: string) => Admission {
  const here = new Admission({ atOnce: 32, late: 64, ...PATIENCE });
  const repositories = new Admission({ atOnce: 8, late: 16, ...PATIENCE });
  return (entry) => (threads.has(entry) ? repositories : here);
}

/** A storage that is given by its name alone has a bucket of its own, as in the data stack. */
function configureStorages(): void {
  const { REPOSITORY_STORAGES: configured, OBJECTS_BUCKET: own = 'lemnos-objects' } = process.env;
  if (!configured) return;
  process.env['REPOSITORY_STORAGES'] = parseStorages(configured)
    .map(({ name, bucket = `${own}-${name.toLowerCase().replaceAll('_', '-')}`, prefix }) =>
      [`${name}=${bucket}`, prefix].join(prefix === '' ? '' : '/'),
    )
    .join(',');
}

/** Creates table, buckets and queues as the data and service stacks do, unless they exist. */
async function prepare(): Promise<void> {
  const { dynamodb, s3, sqs } = awsClients();
  configureStorages();
  const { tableName, storages } = readEnvironment();
  await ensureTable(dynamodb, { ...tableDefinition(tableName), timeToLive: TABLE_TTL_ATTRIBUTE });
  for (const Bucket of new Set(Object.values(storages).map(({ bucket }) => bucket))) {
    await s3.send(new CreateBucketCommand({ Bucket })).catch((error: Error) => {
      if (!/^BucketAlready/.test(error.name)) throw error;
    });
  }
  for (const area of areasOf('worker')) {
    const visibility = String(Math.min(area.timeout * 6, 43_200));
    const deadLetters = await sqs.send(new CreateQueueCommand({ QueueName: `${area.queue}-dead` }));
    const { Attributes } = await sqs.send(
      new GetQueueAttributesCommand({ QueueUrl: deadLetters.QueueUrl, AttributeNames: ['QueueArn'] }),
    );
    const url = await ensureQueue(area.queue, {
      VisibilityTimeout: visibility,
      RedrivePolicy: JSON.stringify({
        deadLetterTargetArn: Attributes?.['QueueArn'],
        maxReceiveCount: area.queue === 'maintenance' ? MAX_RECEIVES_AHEAD : MAX_RECEIVES,
      }),
    });
    process.env[queueVariable(area.queue)] = url;
    process.env[`COUNTED_${queueVariable(area.queue)}`] = url;
    process.env[`COUNTED_${queueVariable(area.queue)}_DEAD`] = deadLetters.QueueUrl!;
  }
}

/** Creates a queue, or updates its attributes, which a release may have changed. @returns its URL */
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
  disk: Disk,
  signal: AbortSignal,
): Promise<void>[] {
  const { sqs } = awsClients();
  return areasOf('worker').map((area) =>
    pollQueue({
      client: sqs,
      queueUrl: process.env[queueVariable(area.queue)]!,
      queueArn: `arn:aws:sqs:local:000000000000:${area.queue}`,
      // In Lambda a batch saves invocations; here it would make its messages wait for each other.
      batchSize: 1,
      isLong: (body) => LONG_JOBS.has(parseMessage(body)?.type ?? ''),
      concurrency: CONCURRENCY[area.queue] ?? 1,
      timeout: area.timeout,
      functionName: area.name,
      // No function can crash here and hold a message until its visibility timeout ends: retry sooner.
      retryAfter: 30,
      // A job that cannot write would fail until it is a dead letter.
      ready: () => disk.writable(),
      handler: async (event, context) => (await load(area.entry)).handler(event, context),
      // What is cut short by the end of the host is delivered again.
      onError: (error) => signal.aborted || logBackground(area.name, error),
      signal,
    }),
  );
}

/** Sends at once what a host that was killed had committed and not sent; its requests are over. */
async function sendLeft(load: (entry: string) => Promise<FunctionModule>, begun: number): Promise<void> {
  const { entry, name, timeout } = areas.find((area) => area.name === 'outbox-sweep')!;
  try {
    const { handler } = await load(entry);
    for (let more = true; more; ) {
      const event = { olderThan: Date.now() - begun };
      ({ more } = (await handler(event, lambdaContext(name, timeout))) as { more: boolean });
    }
  } catch (error) {
    logBackground(name, error);
  }
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
  // The embedded bucket has no lifecycle rules: this replaces them.
  const sweep = startSchedule({
    name: 'expired objects',
    schedule: 'rate(1 hour)',
    handler: async () => {
      const ago = (days: number) => new Date(Date.now() - days * 86_400_000);
      const { stagingArea: staging, downloads } = createStore();
      await staging.sweep(ago(STAGING_DAYS));
      await downloads.sweep(ago(ARCHIVE_DAYS));
    },
    onError: (error) => logBackground('expired objects', error),
    signal,
  });
  return [...scheduled, sweep];
}

function logBackground(name: string, error: unknown): void {
  log('error', name, { error: String(error) });
}

/** The host name for links: a wildcard address cannot be connected to. */
function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}

/** @throws Error when the port is taken */
function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') return reject(error);
      const why = `${host}:${port} is in use by another program: stop it first, or choose another PORT`;
      reject(new Error(why, { cause: error }));
    });
    server.listen(port, host, () => {
      server.removeAllListeners('error');
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

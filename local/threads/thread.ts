/** The code of a thread that runs functions: see `function-thread.ts`. */

import { getPriority, setPriority } from 'node:os';
import { Readable } from 'node:stream';
import { MessagePort, parentPort, workerData } from 'node:worker_threads';
import { requestHandler, type SdkRequestHandler } from '@lemnos/embedded-aws/request-handler';
import { readS3 } from '@lemnos/embedded-aws/s3';
import { asBuffer } from '../../lib/bytes/as-buffer.ts';
import { useTransport } from '../../lib/store/clients.ts';
import { log } from '../../lib/telemetry/log.ts';
import type { FunctionModule } from '../gateway.ts';
import { installLambdaGlobal, lambdaContext, type ResponseMetadata, ResponseStream } from '../lambda.ts';
import { chooseLog } from '../readable-log.ts';
import { SERVICES, type ServiceName, transportsOf } from '../transports.ts';
import { type Cache, giveBackUnused } from '../unused-memory.ts';
import { alone, type Sent, ThreadCalls } from './calls.ts';
import type {
  FetchAnswer,
  Fetched,
  Invocation,
  Invoked,
  ServiceAnswer,
  ServiceRequest,
  ThreadData,
} from './function-thread.ts';
import { arriving, movable } from './moved-bytes.ts';

const { functions, baseUrl, objects, niceness, givesBack, most } = workerData as ThreadData;
// On Linux 0 is the calling thread; elsewhere it is the process, which has requests to answer.
if (niceness !== undefined && process.platform === 'linux')
  setPriority(0, Math.min(getPriority(0) + niceness, 19));
chooseLog();

/** How often it is looked whether the process has too much memory. */
const LOOK_MS = 2000;

const calls = new ThreadCalls(parentPort!, { load, invoke, fetch: fetchOf });
useTransport(
  transportsOf(
    Object.fromEntries(SERVICES.map((service) => [service, remote(service)])) as Record<
      ServiceName,
      SdkRequestHandler
    >,
    baseUrl,
  ),
);
installLambdaGlobal();
const failed = (error: unknown) => log('error', 'memory', { error: String(error) });
if (givesBack !== undefined) setInterval(() => void giveBack().catch(failed), givesBack).unref();
if (most !== undefined)
  setInterval(() => {
    // What was received and sent is worth a collection too.
    if (process.memoryUsage.rss() > most) giveBack(0).catch(failed);
  }, LOOK_MS).unref();

/** What functions keep of packs is theirs: they have it from one module. */
async function giveBack(worth?: number): Promise<void> {
  const { deps } = (await import(new URL('deps.ts', functions).href)) as { deps(): { packs: Cache } };
  giveBackUnused(deps().packs, worth === undefined ? {} : { worth });
}

/** A service's transport, whose requests the other thread answers, but for reads of objects. */
function remote(service: ServiceName): SdkRequestHandler {
  const here =
    service === 's3' && objects !== undefined
      ? readS3({ ...objects, onError: (error) => log('error', 'bucket', { error: String(error) }) })
      : undefined;
  return requestHandler(async (asked, options) => {
    if (here?.answers(asked)) return here.requestHandler.handle(asked, options);
    const { method, path, query, headers, body } = asked;
    const signal = options?.abortSignal instanceof AbortSignal ? options.abortSignal : undefined;
    signal?.throwIfAborted();
    const sent = bodyOf(body);
    const value: ServiceRequest = {
      service,
      request: { method, path, ...(query && { query: { ...query } }), headers: { ...headers }, body: sent },
    };
    const transfer = sent instanceof MessagePort ? { transfer: [sent] } : {};
    const answer = await calls.call<ServiceAnswer>('service', { value, ...transfer }, signal);
    const content = answer.body;
    if (content instanceof Uint8Array && service !== 's3') return { response: { ...answer, body: content } };
    // The client of the bucket takes streams only.
    const stream =
      content instanceof Uint8Array
        ? Readable.from(content.length === 0 ? [] : [asBuffer(content)])
        : Readable.fromWeb(arriving(content) as Parameters<typeof Readable.fromWeb>[0]);
    return { response: { ...answer, body: stream } };
  });
}

function bodyOf(body: unknown): string | Uint8Array | MessagePort | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === 'string') return body;
  if (body instanceof Uint8Array) return alone(body);
  return movable((body instanceof Blob ? body.stream() : body) as AsyncIterable<Uint8Array>);
}

function moduleOf(entry: string): Promise<FunctionModule> {
  return import(new URL(entry, functions).href);
}

async function load({ entry }: { entry: string }): Promise<Sent> {
  const { fetch } = await moduleOf(entry);
  return { value: { fetches: fetch !== undefined } };
}

async function invoke(
  { entry, event, functionName, seconds, streams }: Invocation,
  signal: AbortSignal,
): Promise<Sent> {
  const { handler } = await moduleOf(entry);
  const context = lambdaContext(functionName, seconds);
  if (!streams) return { value: { result: await handler(event, context) } };
  const begun = Promise.withResolvers<Sent>();
  const stream = streamTo((metadata, body) => {
    const port = movable(body);
    const value: Invoked = { metadata, body: port };
    begun.resolve({ value, transfer: [port] });
  });
  signal.addEventListener('abort', () => stream.destroy(new Error('the client disconnected')), {
    once: true,
  });
  handler(event, stream, context).then(
    (result) => begun.resolve({ value: { result } satisfies Invoked }),
    (error: Error) => {
      begun.reject(error);
      stream.destroy(error);
    },
  );
  return begun.promise;
}

/** The stream that a function writes its answer to: what it writes goes to the other thread as that reads it. */
function streamTo(
  begin: (metadata: ResponseMetadata, body: ReadableStream<Uint8Array>) => void,
): ResponseStream {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const stream = new ResponseStream({
    begin: (metadata) => begin(metadata, readable),
    write: (chunk, done) => void writer.write(alone(chunk)).then(() => done(), done),
    end: (done) => void writer.close().then(() => done(), done),
    abort: (error) => void writer.abort(error).catch(() => {}),
  });
  writer.closed.catch((error) => stream.destroy(error));
  // Nobody else listens to what a client that has gone causes.
  stream.on('error', () => {});
  return stream;
}

async function fetchOf(
  { entry, url, method, headers, body, info }: Fetched,
  signal: AbortSignal,
): Promise<Sent> {
  const { fetch } = await moduleOf(entry);
  const init = { method, headers, ...(body && { body: arriving(body), duplex: 'half' }) } as RequestInit;
  // Nobody reads the rest of a request that has been answered.
  const over = () => body?.close();
  try {
    const response = await fetch!(new Request(url, init), { ...info, signal });
    const content = response.body === null ? undefined : movable(response.body, { over });
    if (content === undefined) over();
    const value: FetchAnswer = { status: response.status, headers: [...response.headers], body: content };
    return { value, ...(content && { transfer: [content] }) };
  } catch (error) {
    over();
    throw error;
  }
}

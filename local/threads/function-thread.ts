import { Readable } from 'node:stream';
import { MessagePort, Worker } from 'node:worker_threads';
import type { SdkRequest, SdkRequestHandler } from '@lemnos/embedded-aws/request-handler';
import type { Context } from 'aws-lambda';
import { whole } from '../../lib/bytes/whole.ts';
import { log } from '../../lib/telemetry/log.ts';
import type { FunctionModule } from '../gateway.ts';
import type { ResponseMetadata, ResponseStream } from '../lambda.ts';
import type { ServiceName } from '../transports.ts';
import { alone, type Sent, ThreadCalls } from './calls.ts';
import { arriving, movable } from './moved-bytes.ts';

export interface FunctionThreadOptions {
  /** For logs. */
  readonly name: string;
  /** The folder of the function entries, as a URL that ends with a slash. */
  readonly functions: URL;
  /** The embedded services, which stay in this thread. */
  readonly services: Readonly<Record<ServiceName, SdkRequestHandler>>;
  readonly baseUrl: string;
  /** Where the bucket's objects are: the thread reads them itself. Without it they come through the other thread, as all else does. */
  readonly objects?: { readonly dir: string; readonly endpointPath: string };
  /** How much the thread gives way to the others, as `nice` counts; only Linux knows threads by it. */
  readonly niceness?: number;
  /** What it keeps of packs, in MB. */
  readonly packCache: number;
  /** Ends the thread when it has run no function for so long, in milliseconds, and with it its memory. Not for functions that stream. */
  readonly idle?: number;
  /** How often it gives back what it keeps of packs and did not use since, in milliseconds; without it never. */
  readonly givesBack?: number;
  /** Memory of the process, in bytes, above which it gives that back at once. */
  readonly most?: number;
}

/** What the thread is started with. */
export type ThreadData = Pick<
  FunctionThreadOptions,
  'name' | 'baseUrl' | 'objects' | 'niceness' | 'givesBack' | 'most'
> & {
  readonly functions: string;
};

/** The messages to the thread. A body is what {@link movable} makes of it. */
export interface Invocation {
  readonly entry: string;
  readonly event: unknown;
  readonly functionName: string;
  readonly seconds: number;
  readonly streams: boolean;
}
/** What the function returned, or the answer that it began to stream. */
export type Invoked =
  | { readonly result: unknown }
  | { readonly metadata: ResponseMetadata; readonly body: MessagePort };
export interface Fetched {
  readonly entry: string;
  readonly url: string;
  readonly method: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: MessagePort | undefined;
  readonly info: { readonly sourceIp: string; readonly requestId?: string; readonly baseUrl: string };
}
export interface FetchAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: MessagePort | undefined;
}
/** The messages from the thread: a request to one of the services. */
export interface ServiceRequest {
  readonly service: ServiceName;
  readonly request: SdkRequest;
}
export interface ServiceAnswer {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array | MessagePort;
}

/** Of a thread, in MB. With less room the heap grows in smaller steps, and leaves less of it unused. */
const HEAP = { maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 24 };

/** A body up to this size goes from thread to thread in one message. */
const WHOLE_BODY_BYTES = 4 * 1024 * 1024;

/**
 * Runs functions in a thread of their own, where their work takes no time of this thread's. They reach the embedded
 * services through messages. The thread starts when a function is loaded first, and again after it ended by itself: what it
 * was doing fails.
 */
export class FunctionThread {
  readonly #options: FunctionThreadOptions;
  #running: Running | undefined;
  #ended = false;

  constructor(options: FunctionThreadOptions) {
    this.#options = options;
  }

  /** The module of an entry, whose functions run in the thread. */
  load(entry: string): Promise<FunctionModule> {
    if (this.#ended) return Promise.reject(new Error(`${this.#options.name} has ended`));
    this.#running ??= this.#start();
    return this.#running.load(entry);
  }

  async end(): Promise<void> {
    this.#ended = true;
    await this.#running?.worker.terminate();
  }

  #start(): Running {
    const { name, functions, services, baseUrl, objects, niceness, packCache, idle, givesBack, most } =
      this.#options;
    const workerData: ThreadData = {
      name,
      functions: functions.href,
      baseUrl,
      ...(objects && { objects }),
      ...(niceness && { niceness }),
      ...(givesBack && { givesBack }),
      ...(most && { most }),
    };
    const worker = new Worker(new URL('./thread.ts', import.meta.url), {
      name,
      workerData,
      env: { ...process.env, PACK_CACHE_MB: String(packCache) },
      resourceLimits: HEAP,
    });
    const calls = new ThreadCalls(worker, { service: serviceOf(services) });
    const running = new Running(worker, calls);
    const forget = () => {
      if (this.#running === running) this.#running = undefined;
    };
    const watch =
      idle &&
      setInterval(() => {
        if (calls.last > Date.now() - idle) return;
        forget();
        void worker.terminate();
      }, idle / 2).unref();
    worker.on('error', (error) => log('error', name, { error: String(error) }));
    worker.on('exit', (code) => {
      clearInterval(watch);
      forget();
      calls.end(new Error(`the thread ${name} ended with ${code}`));
    });
    return running;
  }
}

/** A thread that has been started, and the modules loaded there. */
class Running {
  readonly worker: Worker;
  readonly #calls: ThreadCalls;
  readonly #modules = new Map<string, Promise<FunctionModule>>();

  constructor(worker: Worker, calls: ThreadCalls) {
    this.worker = worker;
    this.#calls = calls;
  }

  load(entry: string): Promise<FunctionModule> {
    let module = this.#modules.get(entry);
    if (module === undefined) {
      module = this.#load(entry);
      module.catch(() => this.#modules.delete(entry));
      this.#modules.set(entry, module);
    }
    return module;
  }

  async #load(entry: string): Promise<FunctionModule> {
    const { fetches } = await this.#calls.call<{ fetches: boolean }>('load', { value: { entry } });
    return {
      handler: (event, ...others) => {
        const context = others.at(-1) as Context;
        return others.length === 1
          ? this.#handle(entry, event, context)
          : this.#handle(entry, event, context, others[0] as ResponseStream);
      },
      ...(fetches && { fetch: (request, info) => this.#fetch(entry, request, info) }),
    };
  }

  async #handle(entry: string, event: unknown, context: Context, stream?: ResponseStream): Promise<unknown> {
    const { functionName } = context;
    const seconds = context.getRemainingTimeInMillis() / 1000;
    const value: Invocation = { entry, event, functionName, seconds, streams: stream !== undefined };
    if (stream === undefined) {
      const invoked = await this.#calls.call<{ result: unknown }>('invoke', { value });
      return invoked.result;
    }
    const gone = new AbortController();
    stream.once('close', () => stream.writableFinished || gone.abort());
    const invoked = await this.#calls.call<Invoked>('invoke', { value }, gone.signal);
    if ('result' in invoked) return invoked.result;
    const arrived = arriving(invoked.body);
    if (stream.destroyed) {
      // The client went while the answer was on its way, and nobody is told of that any more.
      await arrived.cancel();
      return undefined;
    }
    stream.begin(invoked.metadata);
    // Ends the function's writing when the client has gone.
    const body = Readable.fromWeb(arrived as Parameters<typeof Readable.fromWeb>[0]);
    await new Promise<void>((resolve, reject) => {
      body.once('error', (error) => {
        stream.destroy(error);
        reject(error);
      });
      stream.once('close', () => {
        body.destroy();
        resolve();
      });
      stream.once('finish', resolve);
      body.pipe(stream);
    });
    return undefined;
  }

  async #fetch(
    entry: string,
    request: Request,
    { signal, ...info }: Parameters<NonNullable<FunctionModule['fetch']>>[1],
  ): Promise<Response> {
    const { url, method } = request;
    const body = request.body ? movable(request.body as AsyncIterable<Uint8Array>) : undefined;
    const value: Fetched = { entry, url, method, headers: [...request.headers], body, info };
    const sent = body === undefined ? { value } : { value, transfer: [body] };
    const answer = await this.#calls.call<FetchAnswer>('fetch', sent as Sent, signal);
    const { status } = answer;
    return new Response(answer.body ? arriving(answer.body) : null, {
      status,
      headers: answer.headers as [string, string][],
    });
  }
}

/** Serves the thread's requests to the services, which keep nothing of the bytes that the bucket answers: these move. */
const serviceOf =
  (services: FunctionThreadOptions['services']) =>
  async ({ service, request }: ServiceRequest, signal: AbortSignal): Promise<Sent> => {
    const sent = request.body instanceof MessagePort ? { ...request, body: arriving(request.body) } : request;
    const { response } = await services[service].handle(sent, { abortSignal: signal });
    const { statusCode, headers, body } = response;
    const answer = (content: ServiceAnswer['body']): ServiceAnswer => ({
      statusCode,
      headers,
      body: content,
    });
    if (body instanceof Uint8Array) return { value: answer(alone(body)) };
    if (Number(headers['content-length'] ?? WHOLE_BODY_BYTES + 1) > WHOLE_BODY_BYTES) {
      const port = movable(body, { own: alone });
      return { value: answer(port), transfer: [port] };
    }
    const bytes = alone(await whole(body));
    return { value: answer(bytes), transfer: [bytes.buffer] };
  };

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { APIGatewayAuthorizerResult, APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { goneWhenClosed } from '../lib/http/function.ts';
import { withoutPrefix } from '../lib/http/gateway.ts';
import { log } from '../lib/telemetry/log.ts';
import type { Admission } from './admission.ts';
import { callerAddress } from './caller-address.ts';
import { authorizerEvent, proxyEvent, split } from './event.ts';
import { IncomingBody } from './incoming-body.ts';
import { lambdaContext, type ResponseMetadata, type ResponseSink, ResponseStream } from './lambda.ts';
import type { Route } from './routes.ts';

/** The exports of a function module in `functions/`. */
export interface FunctionModule {
  /** Streams if the runtime supports it: (event, responseStream, context); otherwise (event, context). */
  readonly handler: (...args: unknown[]) => Promise<unknown>;
  /** The same function without a gateway, for requests larger than an event can be. */
  readonly fetch?: (
    request: Request,
    info: { sourceIp: string; requestId?: string; baseUrl: string; signal?: AbortSignal },
  ) => Promise<Response>;
}

export interface GatewayOptions {
  readonly route: (path: string) => Route | undefined;
  readonly load: (entry: string) => Promise<FunctionModule>;
  /** Public base URL without a trailing slash. */
  readonly baseUrl: string;
  /** Enforce the limits and the behaviour of API Gateway (REST API) and Lambda; some with other numbers, in tests. */
  readonly limits: boolean | Partial<GatewayLimits>;
  /** Entry of the authorizer for areas with `authorizer: 'git'`. */
  readonly gitAuthorizer: string;
  /** Who decides when a request of a function is served; without it all are at once. */
  readonly admission?: (entry: string) => Admission | undefined;
  /** Why requests that write are refused for now. */
  readonly refusal?: () => { readonly status: number; readonly message: string } | undefined;
}

export interface GatewayLimits {
  /** Bytes of a request's body. */
  readonly body: number;
  /** Bytes of the body in the event for a function, after Base64 encoding. */
  readonly event: number;
  /** Bytes of a streamed response, after which its connection is closed. */
  readonly streamed: number;
  /** Seconds of a request; a function's own timeout, if that is shorter. */
  readonly seconds: number;
}

/**
 * A REST API accepts 10 MB (API Gateway guide, "Quotas"), a function an event of 6 MB, and it streams 200 MB (Lambda guide,
 * "Lambda quotas", "Response streaming") for 15 minutes. The rate of 2 MB/s after the first 6 MB is not simulated.
 */
export const AWS_LIMITS: GatewayLimits = {
  body: 10 * 1024 * 1024,
  event: 6 * 1024 * 1024,
  streamed: 200_000_000,
  seconds: 900,
};
/** Without the gateway's limits, a larger body is streamed: the function decides how much of it to read. */
const HELD_BODY_BYTES = 64 * 1024;
const HEADER_LIMIT = 10_240;

type Options = Omit<GatewayOptions, 'limits'> & { readonly limits: GatewayLimits | undefined };

/** Serves the functions over node:http: makes the event, invokes the function, and writes its answer, as API Gateway does. */
export function gateway({
  limits,
  ...others
}: GatewayOptions): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const options = {
    ...others,
    limits: limits === false ? undefined : { ...AWS_LIMITS, ...(limits !== true && limits) },
  };
  return async (request, response) => {
    try {
      await serve(options, request, response);
    } catch (error) {
      log('error', 'gateway', { error: String(error) });
      if (response.headersSent) response.destroy();
      else gatewayAnswer(response, 502, 'Internal server error');
    }
  };
}

async function serve(options: Options, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { path } = split(request.url ?? '/');
  // Absolute URLs (for proxies) and `*`: the gateway serves paths only.
  if (!path.startsWith('/')) return gatewayAnswer(response, 400, '400 Bad Request');
  const route = options.route(path);
  if (route === undefined) return gatewayAnswer(response, 404, '404 Not Found');

  const isGit = route.area.authorizer === 'git';
  const incoming = new IncomingBody(request);
  const refuse = ({ status, message, headers = [] }: Refusal) => {
    // git prints text that is plain.
    const type = isGit ? 'text/plain' : 'application/json';
    const answer = isGit ? `${message}\n` : JSON.stringify({ message });
    return answerUnread(
      response,
      status,
      [['Content-Type', type], ...headers],
      Buffer.from(answer),
      incoming,
    );
  };
  const refusal = options.refusal?.();
  if (refusal !== undefined && writes(request, isGit)) return refuse(refusal);
  const admission = options.admission?.(route.area.entry);
  if (admission?.full) return refuse(BUSY);
  /** Serves the request when it is its turn. */
  const inTurn = async (work: () => Promise<void>): Promise<void> => {
    if (admission === undefined) return work();
    const gone = new AbortController();
    response.once('close', () => response.writableFinished || gone.abort());
    const end = await admission.enter(gone.signal, () => request.complete && !response.headersSent);
    if (end === undefined) return refuse(BUSY);
    try {
      await work();
    } finally {
      end();
    }
  };
  const module = await options.load(route.area.entry);
  // The fetch standard forbids TRACE: it becomes another method that no path has.
  if (request.method === 'TRACE') request.method = 'UNKNOWN';
  const { fetch } = module;
  const through = (use: NonNullable<FunctionModule['fetch']>) =>
    inTurn(() => streamThrough(options, use, request, response, incoming));
  if (isGit && !options.limits && fetch !== undefined) return through(fetch);

  const body = await incoming.whole(options.limits?.body ?? HELD_BODY_BYTES);
  if (body === undefined && !options.limits && fetch !== undefined) return through(fetch);
  if (body === undefined || (options.limits && body.length * (4 / 3) > options.limits.event)) {
    response.setHeader('Connection', 'close');
    const answer = '{"message":"413 Request Entity Too Large"}';
    return answerUnread(response, 413, [['Content-Type', 'application/json']], Buffer.from(answer), incoming);
  }
  const event = proxyEvent(request, route, body);
  if (isGit && options.limits) {
    const denied = await authorize(options, event);
    if (denied !== undefined) {
      if (denied === 401) response.setHeader('WWW-Authenticate', 'Basic realm="Lemnos"');
      return gatewayAnswer(response, denied, denied === 401 ? '401 Unauthorized' : '403 Forbidden');
    }
  }
  await inTurn(() => invoke(options, module, event, route, response));
}

/** What a request is refused with before its function is asked. */
interface Refusal {
  readonly status: number;
  readonly message: string;
  readonly headers?: readonly [string, string][];
}

const BUSY: Refusal = {
  status: 503,
  message: 'The server is busy. Please try again in a few seconds.',
  headers: [['Retry-After', '5']],
};

/** @returns the status of a denied request: 401 if the authorizer throws `Unauthorized`, 403 for a Deny policy */
async function authorize(options: Options, event: APIGatewayProxyEvent): Promise<401 | 403 | undefined> {
  const authorizer = await options.load(options.gitAuthorizer);
  try {
    const result = (await authorizer.handler(
      authorizerEvent(event),
      lambdaContext(options.gitAuthorizer, 10),
    )) as APIGatewayAuthorizerResult;
    if (result.policyDocument.Statement.every((statement) => statement.Effect !== 'Allow')) return 403;
    event.requestContext.authorizer = { principalId: result.principalId, ...result.context };
    return undefined;
  } catch (error) {
    if (error instanceof Error && error.message === 'Unauthorized') return 401;
    throw error;
  }
}

async function invoke(
  options: Options,
  module: FunctionModule,
  event: APIGatewayProxyEvent,
  route: Route,
  response: ServerResponse,
): Promise<void> {
  const context = lambdaContext(route.area.name, route.area.timeout);
  const stream = new ResponseStream(sinkOf(response, options.limits));
  const finished = new Promise<void>((resolve, reject) => {
    stream.once('finish', resolve);
    stream.once('error', reject);
    response.once('close', () => {
      stream.destroy();
      resolve();
    });
  });
  // A client that disconnects ends its answer, not the host.
  stream.on('error', () => {});
  finished.catch(() => {});
  const handled = Promise.resolve(module.handler(event, stream, context)).then(async (result) => {
    if (response.destroyed || response.writableEnded) return;
    const buffered = result as APIGatewayProxyResult | undefined;
    if (buffered?.statusCode !== undefined) writeBuffered(response, buffered, options.limits);
    else await finished;
  });
  if (options.limits === undefined) return handled;
  const seconds = Math.min(route.area.timeout, options.limits.seconds);
  const late = setTimeout(() => {
    if (response.headersSent) response.destroy();
    else gatewayAnswer(response, 504, 'Endpoint request timed out');
    stream.destroy();
  }, seconds * 1000);
  try {
    await handled;
  } catch (error) {
    // The response has been ended here, and the function learned of it.
    if (!(response.destroyed || response.writableEnded)) throw error;
  } finally {
    clearTimeout(late);
  }
}

function writeBuffered(
  response: ServerResponse,
  result: APIGatewayProxyResult,
  limits: GatewayLimits | undefined,
): void {
  writeHead(response, result as ResponseMetadata, limits);
  response.end(result.isBase64Encoded === true ? Buffer.from(result.body, 'base64') : result.body);
}

function sinkOf(response: ServerResponse, limits: GatewayLimits | undefined): ResponseSink {
  let streamed = 0;
  return {
    begin: (metadata) => {
      writeHead(response, metadata, limits);
      // What is in memory goes out with the head, at once; a body that is still to be made does not hold the head back.
      const { socket } = response;
      socket?.cork();
      setImmediate(() => {
        // The end of a response sends all of it.
        if (response.writableEnded) return;
        response.flushHeaders();
        socket?.uncork();
      });
    },
    write: (chunk, done) => {
      streamed += chunk.length;
      if (limits !== undefined && streamed > limits.streamed) {
        response.destroy();
        done(new Error('the response exceeds what a function can stream'));
      } else if (response.destroyed) done(new Error('the client disconnected'));
      else if (response.write(chunk)) done();
      else {
        const proceed = () => {
          response.off('drain', proceed);
          response.off('close', proceed);
          done(response.destroyed ? new Error('the client disconnected') : null);
        };
        response.once('drain', proceed);
        response.once('close', proceed);
      }
    },
    end: (done) => {
      response.end();
      done();
    },
    abort: () => response.destroy(),
  };
}

function writeHead(
  response: ServerResponse,
  metadata: ResponseMetadata,
  limits: GatewayLimits | undefined,
): void {
  let size = 0;
  const set = (name: string, value: string | readonly string[]) => {
    // A REST API's proxy integration renames this header; git then never sends credentials.
    const sent =
      limits && name.toLowerCase() === 'www-authenticate' ? 'x-amzn-Remapped-WWW-Authenticate' : name;
    for (const item of typeof value === 'string' ? [value] : value) size += sent.length + item.length;
    response.setHeader(sent, typeof value === 'string' ? value : [...value]);
  };
  for (const [name, value] of Object.entries(metadata.headers ?? {})) set(name, String(value));
  for (const [name, values] of Object.entries(metadata.multiValueHeaders ?? {}))
    set(name, values.map(String));
  if (limits && size > HEADER_LIMIT)
    throw new Error(`response headers of ${size} bytes exceed the gateway's limit`);
  response.statusCode = metadata.statusCode;
}

/** Without the gateway: streams a request in and its answer out, at any size. */
export async function streamThrough(
  options: Pick<GatewayOptions, 'baseUrl'>,
  fetch: NonNullable<FunctionModule['fetch']>,
  request: IncomingMessage,
  response: ServerResponse,
  body: IncomingBody = new IncomingBody(request),
): Promise<void> {
  const hasBody = request.method !== 'GET' && request.method !== 'HEAD';
  const { origin, pathname: prefix } = new URL(options.baseUrl);
  const headers = new Headers();
  for (let i = 0; i + 1 < request.rawHeaders.length; i += 2) {
    const name = request.rawHeaders[i]!;
    if (!/^(connection|transfer-encoding|keep-alive|upgrade|expect)$/i.test(name))
      headers.append(name, request.rawHeaders[i + 1]!);
  }
  const answer = await fetch(
    new Request(origin + withoutPrefix(request.url ?? '/', prefix), {
      method: request.method ?? 'GET',
      headers,
      ...(hasBody ? { body: body.stream(), duplex: 'half' } : {}),
    } as RequestInit),
    { sourceIp: callerAddress(request), baseUrl: options.baseUrl, signal: goneWhenClosed(response) },
  );
  if (answer.status >= 400 && !request.complete) {
    const bytes = new Uint8Array(await answer.arrayBuffer());
    return answerUnread(response, answer.status, answer.headers, bytes, body);
  }
  response.statusCode = answer.status;
  for (const [name, value] of answer.headers) response.appendHeader(name, value);
  if (answer.body === null) {
    response.end();
    return;
  }
  const reader = answer.body.getReader();
  response.once('close', () => void reader.cancel().catch(() => {}));
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    // It may have gone before the answer came.
    if (response.destroyed) return reader.cancel();
    if (!response.write(part.value))
      await new Promise<void>((resolve) => {
        const proceed = () => {
          response.off('drain', proceed);
          response.off('close', proceed);
          resolve();
        };
        response.once('drain', proceed);
        response.once('close', proceed);
      });
  }
  response.end();
}

/**
 * Refuses a request whose body has not been read. The answer goes out whole before the rest of the body is discarded, and
 * the connection closes after that: closing it at once would reset it, and the client could lose the answer (RFC 9112
 * §9.6).
 */
async function answerUnread(
  response: ServerResponse,
  status: number,
  headers: Iterable<[string, string]>,
  bytes: Uint8Array,
  body: IncomingBody,
): Promise<void> {
  response.statusCode = status;
  for (const [name, value] of headers) response.appendHeader(name, value);
  response.setHeader('Connection', 'close');
  response.setHeader('Content-Length', bytes.length);
  response.write(bytes);
  await body.discard();
  response.end();
}

/** Whether a request is one to write. Git asks first what it may push onto. */
function writes({ method, url = '' }: IncomingMessage, isGit: boolean): boolean {
  if (isGit) return /\/git-receive-pack(\?|$)|[?&]service=git-receive-pack(&|$)/.test(url);
  return method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS';
}

/** An answer of the gateway itself, with the body that the deployed gateway is configured to send. */
function gatewayAnswer(response: ServerResponse, status: number, message: string): void {
  response.statusCode = status;
  response.setHeader('Content-Type', 'application/json');
  response.end(JSON.stringify(status === 404 ? { error: message } : { message }));
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { APIGatewayAuthorizerResult, APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { log } from '../lib/telemetry/log.ts';
import { callerAddress } from './caller-address.ts';
import { authorizerEvent, proxyEvent, split } from './event.ts';
import { lambdaContext, type ResponseMetadata, type ResponseSink, ResponseStream } from './lambda.ts';
import type { Route } from './routes.ts';

/** What a function module under `functions/` exports. */
export interface FunctionModule {
  /** Streams when the runtime offers it: (event, responseStream, context); else answers (event, context). */
  readonly handler: (...args: unknown[]) => Promise<unknown>;
  /** The same core without a gateway, for requests larger than events may be. */
  readonly fetch?: (
    request: Request,
    info: { sourceIp: string; requestId?: string; baseUrl: string },
  ) => Promise<Response>;
}

export interface GatewayOptions {
  readonly route: (path: string) => Route | undefined;
  readonly load: (entry: string) => Promise<FunctionModule>;
  /** Public base URL without a trailing slash. */
  readonly baseUrl: string;
  /** Enforce the sizes, times and manners of API Gateway and Lambda (REST API, payload limits). */
  readonly limits: boolean;
  /** Entry of the authorizer that guards areas with `authorizer: 'git'`. */
  readonly gitAuthorizer: string;
}

/** A REST API takes 10 MB; the event that carries it to a function ends at 6 MB, Base64 included. */
const GATEWAY_BODY_LIMIT = 10 * 1024 * 1024;
const EVENT_BODY_LIMIT = 6 * 1024 * 1024;
/** Without the gateway's limits an event is still held in memory: JSON bodies end here. */
const HOST_BODY_LIMIT = 256 * 1024 * 1024;
const HEADER_LIMIT = 10_240;
/** What is read of a body that is refused: a client that cannot end what it sends loses the answer. */
const DISCARDED = 256 * 1024 * 1024;

/** node:http in front of the functions: makes the event, invokes, writes the answer as the gateway would. */
export function gateway(
  options: GatewayOptions,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
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

async function serve(
  options: GatewayOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { path } = split(request.url ?? '/');
  // As one asks a proxy, or about the server as a whole: the gateway is none, and answers for paths alone.
  if (!path.startsWith('/')) return gatewayAnswer(response, 400, '400 Bad Request');
  const route = options.route(path);
  if (route === undefined) return gatewayAnswer(response, 404, '404 Not Found');

  const module = await options.load(route.area.entry);
  const isGit = route.area.authorizer === 'git';
  // The gateway passes no such request on, and the fetch standard knows none.
  if (request.method === 'TRACE') return gatewayAnswer(response, 405, '405 Not Allowed');
  if (isGit && !options.limits && module.fetch !== undefined)
    return streamThrough(options, module.fetch, request, response);

  const limit = options.limits ? GATEWAY_BODY_LIMIT : HOST_BODY_LIMIT;
  const body = await readBody(request, limit);
  if (body === undefined || (options.limits && body.length * (4 / 3) > EVENT_BODY_LIMIT)) {
    response.setHeader('Connection', 'close');
    return gatewayAnswer(response, 413, '413 Request Entity Too Large');
  }
  const event = proxyEvent(request, route, body);
  if (isGit && options.limits) {
    const refusal = await authorize(options, event);
    if (refusal !== undefined) {
      if (refusal === 401) response.setHeader('WWW-Authenticate', 'Basic realm="Lemnos"');
      return gatewayAnswer(response, refusal, refusal === 401 ? '401 Unauthorized' : '403 Forbidden');
    }
  }
  await invoke(options, module, event, route, response);
}

/** A function that throws `Unauthorized` refuses with 401; a Deny policy with 403. */
async function authorize(
  options: GatewayOptions,
  event: APIGatewayProxyEvent,
): Promise<401 | 403 | undefined> {
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
  options: GatewayOptions,
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
  // A client that goes away ends the answer, not the host.
  stream.on('error', () => {});
  const result = (await module.handler(event, stream, context)) as APIGatewayProxyResult | undefined;
  if (result?.statusCode !== undefined) return writeBuffered(response, result, options.limits);
  await finished;
}

function writeBuffered(response: ServerResponse, result: APIGatewayProxyResult, limits: boolean): void {
  writeHead(response, result as ResponseMetadata, limits);
  response.end(result.isBase64Encoded === true ? Buffer.from(result.body, 'base64') : result.body);
}

function sinkOf(response: ServerResponse, limits: boolean): ResponseSink {
  return {
    begin: (metadata) => writeHead(response, metadata, limits),
    write: (chunk, done) => {
      if (response.destroyed) done(new Error('the client went away'));
      else if (response.write(chunk)) done();
      else {
        const proceed = () => {
          response.off('drain', proceed);
          response.off('close', proceed);
          done(response.destroyed ? new Error('the client went away') : null);
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

function writeHead(response: ServerResponse, metadata: ResponseMetadata, limits: boolean): void {
  let size = 0;
  const set = (name: string, value: string | readonly string[]) => {
    // A REST API's proxy integration renames this one; git then never sends credentials.
    const sent =
      limits && name.toLowerCase() === 'www-authenticate' ? 'x-amzn-Remapped-WWW-Authenticate' : name;
    for (const one of typeof value === 'string' ? [value] : value) size += sent.length + one.length;
    response.setHeader(sent, typeof value === 'string' ? value : [...value]);
  };
  for (const [name, value] of Object.entries(metadata.headers ?? {})) set(name, String(value));
  for (const [name, values] of Object.entries(metadata.multiValueHeaders ?? {}))
    set(name, values.map(String));
  if (limits && size > HEADER_LIMIT)
    throw new Error(`response headers of ${size} bytes pass the gateway's limit`);
  response.statusCode = metadata.statusCode;
  response.flushHeaders();
}

/** Git without the gateway: the request streams in, the answer streams out, at any size. */
export async function streamThrough(
  options: Pick<GatewayOptions, 'baseUrl'>,
  fetch: NonNullable<FunctionModule['fetch']>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const hasBody = request.method !== 'GET' && request.method !== 'HEAD';
  const headers = new Headers();
  for (let i = 0; i + 1 < request.rawHeaders.length; i += 2) {
    const name = request.rawHeaders[i]!;
    if (!/^(connection|transfer-encoding|keep-alive|upgrade|expect)$/i.test(name))
      headers.append(name, request.rawHeaders[i + 1]!);
  }
  const answer = await fetch(
    new Request(`${options.baseUrl}${request.url}`, {
      method: request.method ?? 'GET',
      headers,
      ...(hasBody ? { body: Readable.toWeb(request), duplex: 'half' } : {}),
    } as RequestInit),
    { sourceIp: callerAddress(request), baseUrl: options.baseUrl },
  );
  response.statusCode = answer.status;
  for (const [name, value] of answer.headers) response.appendHeader(name, value);
  if (answer.body === null) {
    response.end();
    return;
  }
  const reader = answer.body.getReader();
  response.once('close', () => void reader.cancel().catch(() => {}));
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    if (response.destroyed) return;
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

/** @returns undefined above the limit */
async function readBody(request: IncomingMessage, limit: number): Promise<Uint8Array | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > limit + DISCARDED) return undefined;
  let chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= limit) chunks.push(chunk);
    else chunks = [];
    if (size > limit + DISCARDED) return undefined;
  }
  return size > limit ? undefined : Buffer.concat(chunks, size);
}

/** The gateway's own answers carry the bodies that the deployed gateway's responses are given. */
function gatewayAnswer(response: ServerResponse, status: number, message: string): void {
  response.statusCode = status;
  response.setHeader('Content-Type', 'application/json');
  response.end(JSON.stringify(status === 404 ? { error: message } : { message }));
}

/**
 * Converts API Gateway's REST proxy event to a web `Request`, and a web `Response` to its result: buffered, or streamed
 * through the Lambda runtime. The only code that knows the gateway's formats.
 */
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';

/** Properties of a request that are not part of the `Request`. */
export interface RequestInfo {
  readonly sourceIp: string;
  /** Public base URL without a trailing slash. */
  readonly baseUrl: string;
  readonly requestId?: string;
  /** Aborted with `CallerGone` when the caller closes the connection before the response has ended. */
  readonly signal?: AbortSignal;
}

/** Lambda limits a buffered response to 6 MB, including JSON escapes and Base64; this leaves room for headers. */
export const BUFFERED_LIMIT = 6 * 1024 * 1024 - 16 * 1024;

/** Methods that the Fetch standard forbids in a `Request`; no endpoint has them. */
const FORBIDDEN_METHOD = /^(CONNECT|TRACE|TRACK)$/;

/**
 * Converts the event to a `Request`. The path of its URL is as sent: percent-encoded, and without a stage. A method that
 * no `Request` may have becomes another one that no endpoint has.
 */
export function requestOf(
  event: APIGatewayProxyEvent,
  configuredBaseUrl: string | undefined = process.env['BASE_URL'],
): { request: Request; info: RequestInfo } {
  const headers = headersOf(event);
  const baseUrl = baseUrlOf(event, headers, configuredBaseUrl);
  const { origin, pathname: prefix } = new URL(baseUrl);
  const path = withoutPrefix(encodeStray(event.path || '/'), prefix);
  const search = searchOf(event);
  const sent = event.httpMethod.toUpperCase();
  const method = FORBIDDEN_METHOD.test(sent) ? 'UNKNOWN' : sent;
  const carriesBody = event.body !== null && event.body !== '' && method !== 'GET' && method !== 'HEAD';
  const request = new Request(`${origin}${path}${search}`, {
    method,
    headers,
    ...(carriesBody ? { body: Buffer.from(event.body!, event.isBase64Encoded ? 'base64' : 'utf8') } : {}),
  });
  return { request, info: { sourceIp: event.requestContext.identity?.sourceIp ?? '', baseUrl } };
}

function headersOf(event: APIGatewayProxyEvent): Headers {
  const headers = new Headers();
  const all = event.multiValueHeaders ?? {};
  const names = new Set([...Object.keys(all), ...Object.keys(event.headers ?? {})]);
  for (const name of names) {
    const values = all[name] ?? [event.headers[name]];
    for (const value of values) {
      try {
        if (value !== undefined && value !== null) headers.append(name, value);
      } catch {
        // Skip names and values that are invalid in HTTP; no code reads them.
      }
    }
  }
  return headers;
}

/** The configured URL, or the domain with the prefix of the public path that the gateway removed (the stage). */
function baseUrlOf(event: APIGatewayProxyEvent, headers: Headers, configured: string | undefined): string {
  // Vite sets `BASE_URL=/` in the environment of tests: only an absolute URL counts as configured.
  if (configured !== undefined && /^https?:\/\/./.test(configured)) return configured.replace(/\/+$/, '');
  const { domainName, path: publicPath, stage } = event.requestContext;
  const scheme = headers.get('x-forwarded-proto') === 'http' ? 'http' : 'https';
  const host = domainName ?? headers.get('host') ?? 'localhost';
  const known = publicPath?.endsWith(event.path) === true;
  const prefix = known
    ? publicPath.slice(0, publicPath.length - event.path.length)
    : /\.execute-api\.[^.]+\.amazonaws\.com/.test(host)
      ? `/${stage}`
      : '';
  return `${scheme}://${host}${prefix}`.replace(/\/+$/, '');
}

/** Removes the path of the base URL, which links get from there: a custom domain's base path mapping, a proxy's prefix. */
export function withoutPrefix(path: string, prefix: string): string {
  const base = prefix.replace(/\/+$/, '');
  if (base === '' || !path.startsWith(`${base}/`)) return path;
  return path.slice(base.length);
}

/** Encodes characters that would end the path of a URL, in case the gateway decoded them. */
const encodeStray = (path: string) =>
  path.replaceAll('?', '%3F').replaceAll('#', '%23').replaceAll('\\', '%5C');

/**
 * The query string. The gateway passes parameters decoded and grouped by name; they are encoded again, once. Grouping
 * loses the order, which matters for lists of objects (`a[][k]`): their values are interleaved, element by element.
 */
function searchOf(event: APIGatewayProxyEvent): string {
  const grouped = event.multiValueQueryStringParameters ?? {};
  const single = event.queryStringParameters ?? {};
  const lists = new Map<string, [name: string, values: readonly string[]][]>();
  for (const name of new Set([...Object.keys(grouped), ...Object.keys(single)])) {
    const element = name.indexOf('[][');
    const list = element < 0 ? `=${name}` : name.slice(0, element);
    const values = grouped[name] ?? [single[name] ?? ''];
    lists.set(list, [...(lists.get(list) ?? []), [name, values]]);
  }
  const pairs: string[] = [];
  for (const list of lists.values()) {
    const length = Math.max(...list.map(([, values]) => values.length));
    for (let index = 0; index < length; index++) {
      for (const [name, values] of list) {
        if (index < values.length) pairs.push(`${encoded(name)}=${encoded(values[index] ?? '')}`);
      }
    }
  }
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

const encoded = (text: string) => encodeURIComponent(text.toWellFormed());

/** The buffered response as the gateway's result. */
export async function buffered(response: Response): Promise<APIGatewayProxyResult> {
  let bytes: Uint8Array | undefined;
  try {
    bytes = await readUpTo(response, BUFFERED_LIMIT);
  } catch {
    // Nothing is sent yet, so a stream that fails can still become a 500. Its cause is logged where it failed.
    return errorInstead(response, 500, '500 Internal Server Error');
  }
  if (bytes === undefined) return tooLong(response);
  const text = textOf(bytes, response.headers.get('content-type') ?? '');
  const body = text ?? Buffer.from(bytes).toString('base64');
  if (Buffer.byteLength(text === undefined ? body : JSON.stringify(body)) > BUFFERED_LIMIT)
    return tooLong(response);
  return {
    statusCode: response.status,
    multiValueHeaders: Object.fromEntries([...response.headers].map(([name, value]) => [name, [value]])),
    body,
    isBase64Encoded: text === undefined,
  };
}

const tooLong = (response: Response): APIGatewayProxyResult =>
  errorInstead(response, 413, '413 The response is too large for this deployment, which does not stream');

function errorInstead(response: Response, statusCode: number, message: string): APIGatewayProxyResult {
  const requestId = response.headers.get('x-request-id') ?? '';
  return {
    statusCode,
    multiValueHeaders: { 'content-type': ['application/json'], 'x-request-id': [requestId] },
    body: JSON.stringify({ message }),
    isBase64Encoded: false,
  };
}

async function readUpTo(response: Response, limit: number): Promise<Uint8Array | undefined> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of response.body ?? []) {
    length += part.length;
    // Leaving the loop cancels the stream.
    if (length > limit) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts, length);
}

const TEXT = /^(text\/|application\/(json|javascript|xml|x-www-form-urlencoded)|[^;]*\+(json|xml))/i;

/** The bytes as text if the type is textual and they are valid UTF-8; text in another encoding is sent as bytes. */
function textOf(bytes: Uint8Array, type: string): string | undefined {
  if (bytes.length === 0) return '';
  if (!TEXT.test(type)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** The part of the Lambda runtime that streams responses. */
export interface StreamingRuntime {
  streamifyResponse(
    handler: (
      event: APIGatewayProxyEvent,
      stream: Writable,
      context?: { readonly functionName: string; readonly awsRequestId: string },
    ) => Promise<void>,
  ): unknown;
  readonly HttpResponseStream: {
    from(stream: Writable, prelude: { statusCode: number; headers: Record<string, string> }): Writable;
  };
}

/** Bodies that are in memory already: they need no stream to be read from. */
const inMemory = new WeakMap<Response, string | Uint8Array>();

/** A response with a body in memory. */
export function responseWith(body: string | Uint8Array, init: ResponseInit): Response {
  const response = new Response(body as BodyInit, init);
  inMemory.set(response, body);
  return response;
}

/** Streams the response. An error on the way aborts the connection: the status is already sent. */
export async function streamed(
  response: Response,
  stream: Writable,
  runtime: StreamingRuntime,
): Promise<void> {
  const out = runtime.HttpResponseStream.from(stream, {
    statusCode: response.status,
    headers: Object.fromEntries(response.headers),
  });
  // The runtime sends status and headers with the first write: an answer without a body needs an empty one.
  const held = inMemory.get(response);
  out.write(held ?? '');
  if (held !== undefined)
    return new Promise((resolve, reject) => {
      out.end((error?: Error | null) => (error ? reject(error) : resolve()));
    });
  const body =
    response.body === null ? Readable.from([]) : Readable.fromWeb(response.body as NodeReadableStream);
  await pipeline(body, out);
}

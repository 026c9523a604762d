import { Readable } from 'node:stream';
import { abortError, requestHandler, type SdkRequest, type SdkRequestHandler } from '../request-handler.ts';
import { parseAddress, type RequestBody, type S3Request, type S3Response } from './message.ts';
import { nameOperation, type Operation } from './operation.ts';
import type { Service } from './service.ts';

/**
 * Serves an SDK client without a socket. Signatures are not verified: the caller is in this process.
 *
 * @param endpointPath the path of the endpoint the clients are configured with, such as `/_s3`
 */
export function createRequestHandler(service: Service, endpointPath: string): SdkRequestHandler {
  return requestHandler(async (request, { abortSignal } = {}) => {
    const signal = abortSignal instanceof AbortSignal ? abortSignal : undefined;
    if (signal?.aborted) throw abortError();
    const answer = service(toRequest(request, endpointPath, signal));
    const response = await (signal === undefined ? answer : unlessAborted(answer, signal));
    return {
      response: { statusCode: response.status, headers: response.headers, body: toStream(response) },
    };
  });
}

/** @throws S3Error for an address that is none */
export function operationOf(request: SdkRequest, endpointPath: string): Operation {
  const asked = toRequest(request, endpointPath, undefined);
  const { bucket, key } = parseAddress(asked.path);
  return nameOperation(asked, bucket, key);
}

function toRequest(request: SdkRequest, endpointPath: string, signal: AbortSignal | undefined): S3Request {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) headers[name.toLowerCase()] = String(value);
  const query = new Map<string, string>();
  for (const [name, value] of Object.entries(request.query ?? {})) {
    query.set(name, (Array.isArray(value) ? value[0] : value) ?? '');
  }
  const { path } = request;
  const body = toBody(request.body);
  // As the SDK's own transport does for a stream of unknown length.
  if (isStream(body) && headers['content-length'] === undefined) headers['transfer-encoding'] ??= 'chunked';
  return {
    method: request.method,
    path: path.startsWith(`${endpointPath}/`) ? path.slice(endpointPath.length) : path,
    query,
    headers,
    body,
    ...(signal === undefined ? {} : { signal }),
  };
}

const isStream = (body: RequestBody) => body !== undefined && !(body instanceof Uint8Array);

function toBody(body: unknown): RequestBody {
  if (body === undefined || body === null || body instanceof Uint8Array) return body ?? undefined;
  if (typeof body === 'string') return Buffer.from(body);
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  if (body instanceof Blob) return body.stream();
  if (Symbol.asyncIterator in (body as object)) return body as AsyncIterable<Uint8Array>;
  throw new TypeError('unsupported type of request body');
}

/** The SDK requires a Node stream, even for an empty body. */
function toStream({ body }: S3Response): Readable {
  if (body instanceof Readable) return body;
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  let sent = bytes === undefined || bytes.length === 0;
  return new Readable({
    read() {
      this.push(sent ? null : bytes);
      if (sent) return;
      sent = true;
      this.push(null);
    },
  });
}

function unlessAborted<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(abortError());
    signal.addEventListener('abort', abort, { once: true });
    answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

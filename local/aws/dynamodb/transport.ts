import type { IncomingMessage, RequestListener } from 'node:http';
import { abortError, requestHandler, type SdkRequestHandler, textOf } from '../request-handler.ts';
import type { Engine } from './engine.ts';
import { invalid } from './errors.ts';
import { ConnectionLost } from './faults.ts';
import type { Input } from './operation.ts';

const CONTENT_TYPE = 'application/x-amz-json-1.0';
const encoder = new TextEncoder();

const PROTO_UNSUPPORTED = invalid('The embedded DynamoDB does not support attributes named __proto__');

interface Exchange {
  status: number;
  body: Uint8Array;
}

async function exchange(engine: Engine, target: string | undefined, body: string): Promise<Exchange> {
  const operation = target?.split('.')[1] ?? '';
  let input: Input;
  // The checks copy attribute maps into plain objects, which would drop this one name silently.
  if (/"__proto__"\s*:/.test(body)) return serialized(PROTO_UNSUPPORTED.status, PROTO_UNSUPPORTED.body());
  try {
    input = JSON.parse(body || '{}') as Input;
  } catch {
    return serialized(400, { __type: 'com.amazon.coral.service#SerializationException' });
  }
  try {
    const answer = await engine.execute(operation, input);
    return serialized(answer.status, answer.body);
  } catch (error) {
    if (error instanceof ConnectionLost) throw error;
    engine.onError?.(error);
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return serialized(500, { __type: 'com.amazonaws.dynamodb.v20120810#InternalServerError', message });
  }
}

function serialized(status: number, body: unknown): Exchange {
  return { status, body: encoder.encode(JSON.stringify(body)) };
}

/** Milliseconds of requests in one turn of the event loop. */
const TURN_MS = 10;
/** Requests that wait for a turn. */
const waiting: (() => void)[] = [];

/**
 * Runs a request in another turn of the event loop, with as many others as there is time for: a network would let timers and
 * other work run, which a loop of reads, or many writes that are sent at once, would starve.
 */
function inTurn<T>(request: () => Promise<T>): Promise<T> {
  return new Promise((resolve) => {
    if (waiting.push(() => resolve(request())) === 1) setImmediate(runWaiting);
  });
}

function runWaiting(): void {
  const began = performance.now();
  // The one that runs stays in the list: what is sent meanwhile is no first one, for which a turn would be asked again.
  do waiting[0]!();
  while (waiting.shift() && waiting.length > 0 && performance.now() - began < TURN_MS);
  if (waiting.length > 0) setImmediate(runWaiting);
}

/** The transport of an SDK client in this process. Signatures are not verified. */
export function requestHandlerOf(engine: Engine): SdkRequestHandler {
  return requestHandler(async (request, options) => {
    if ((options?.abortSignal as { aborted?: boolean } | undefined)?.aborted) throw abortError();
    const answer = await inTurn(() =>
      exchange(engine, request.headers['x-amz-target'], textOf(request.body)),
    );
    return {
      response: {
        statusCode: answer.status,
        headers: { 'content-type': CONTENT_TYPE, 'content-length': String(answer.body.byteLength) },
        body: answer.body,
      },
    };
  }, 'embedded');
}

/** The same for node:http, so that the AWS CLI and other tools can read the data. */
export function listenerOf(engine: Engine): RequestListener {
  return async (request, response) => {
    try {
      const target = request.headers['x-amz-target'] as string | undefined;
      const answer = await exchange(engine, target, await bodyOf(request));
      response.writeHead(answer.status, {
        'content-type': CONTENT_TYPE,
        'content-length': answer.body.byteLength,
      });
      response.end(answer.body);
    } catch {
      request.socket.destroy();
    }
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

import type { Readable } from 'node:stream';

/** The parts of the SDK's HttpRequest that the embedded services read. */
export interface SdkRequest {
  method: string;
  path: string;
  query?: Record<string, string | string[] | null>;
  headers: Record<string, string>;
  body?: unknown;
}

/**
 * The `requestHandler` option of every SDK client, declared by its structure: the package then depends on no version of
 * the SDK.
 */
export interface SdkRequestHandler {
  metadata: { handlerProtocol: string };
  handle(
    request: SdkRequest,
    options?: { abortSignal?: unknown },
  ): Promise<{
    response: { statusCode: number; headers: Record<string, string>; body: Readable | Uint8Array };
  }>;
  updateHttpClientConfig(key: string, value: unknown): void;
  httpHandlerConfigs(): Record<string, unknown>;
  destroy(): void;
}

/** Wraps `handle` in the members that the SDK calls besides it and that have no effect in process. */
export function requestHandler(
  handle: SdkRequestHandler['handle'],
  handlerProtocol = 'http/1.1',
): SdkRequestHandler {
  return {
    metadata: { handlerProtocol },
    handle,
    updateHttpClientConfig() {},
    httpHandlerConfigs: () => ({}),
    destroy() {},
  };
}

/** The text of a JSON request's body, of any type the SDK uses; `{}` if it is absent. */
export function textOf(body: unknown): string {
  if (typeof body === 'string') return body;
  if (!(body instanceof Uint8Array)) return '{}';
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
}

/** What the SDK's own transport rejects with when the caller's signal aborts. */
export function abortError(): Error {
  return Object.assign(new Error('Request aborted'), { name: 'AbortError' });
}

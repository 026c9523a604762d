import { deps, makeDeps } from '../../functions/deps.ts';
import { transports, useTransport } from '../../lib/store/clients.ts';
import type { RetryPolicy } from '../../lib/store/table/retry.ts';
import type { Host } from '../../local/host.ts';

/** One request of an SDK client; its own repetitions are requests too. */
export interface AwsCall {
  /** DynamoDB, S3, SQS. */
  readonly service: 'D' | 'S' | 'Q';
  /** As in the API: `GetItem`, `PutObject`; of S3 the method. */
  readonly operation: string;
  /** Keys asked for, or the object's path. */
  readonly subject: string;
  /** Of S3: the write depends on what is there. */
  readonly conditional?: boolean;
}

interface SdkRequest {
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}
interface SdkResponse {
  readonly response: { readonly headers: Readonly<Record<string, string>> };
}
/** An SDK's `requestHandler`, as far as one that stands before it must know. */
interface RequestHandler {
  handle(request: SdkRequest, options?: unknown): Promise<SdkResponse>;
}

/** Stands between the service and AWS. @returns the answer, which `send` gets */
export type Interposed = (call: AwsCall, send: () => Promise<SdkResponse>) => Promise<SdkResponse>;

/**
 * Puts `between` before every later call of a running service to AWS, and makes the functions forget all they hold in
 * memory. The host should have been started without its background, whose calls would be taken for those of a request.
 */
export function interpose(host: Host, between: Interposed, retries?: RetryPolicy): void {
  const before = (service: AwsCall['service'], handler: unknown) => {
    const inner = handler as RequestHandler;
    return {
      ...inner,
      handle: (request: SdkRequest, options?: unknown) =>
        between(callOf(service, request), () => inner.handle(request, options)),
    };
  };
  useTransport({
    // Mail and the master key are outside of what is watched.
    ...transports(),
    dynamodb: {
      ...transports().dynamodb,
      requestHandler: before('D', host.dynamo.requestHandler) as never,
    },
    s3: {
      endpoint: `${host.url}/_s3`,
      forcePathStyle: true,
      requestHandler: before('S', host.s3.requestHandler) as never,
      ...(retries === undefined ? {} : { maxAttempts: 2 }),
    },
    sqs: {
      ...transports().sqs,
      requestHandler: before('Q', host.sqs.requestHandler) as never,
      ...(retries === undefined ? {} : { maxAttempts: 2 }),
    },
  });
  forgetEverything(retries);
}

/** As after a cold start: nothing is in memory. */
export function forgetEverything(retries?: RetryPolicy): void {
  Object.assign(deps(), makeDeps(retries === undefined ? {} : { retries }));
}

/** Bytes of an answer's body. */
export const bytesOf = ({ response: { headers } }: SdkResponse): number =>
  Number(headers['content-length'] ?? 0);

function callOf(service: AwsCall['service'], request: SdkRequest): AwsCall {
  if (service === 'S') {
    const query = Object.keys(request.query ?? {})
      .filter((name) => name !== 'x-id')
      .sort()
      .join('&');
    const operation = query === '' ? request.method : `${request.method} ${query}`;
    const names = Object.keys(request.headers).map((name) => name.toLowerCase());
    const conditional = names.some((name) => name === 'if-none-match' || name === 'if-match');
    return { service, operation, subject: request.path, conditional };
  }
  const operation = (request.headers['x-amz-target'] ?? '').split('.')[1] ?? '';
  if (service === 'Q') return { service, operation, subject: '' };
  const body = Buffer.from(request.body as Uint8Array | string).toString();
  return { service, operation, subject: keysIn(JSON.parse(body)) };
}

/** `pk sk` of every item that the input of a DynamoDB request names, one behind the other. */
export function keysIn(input: unknown): string {
  const found: string[] = [];
  const look = (part: unknown): void => {
    if (typeof part !== 'object' || part === null) return;
    const { pk, sk, ':partition': partition } = part as Record<string, { S?: string } | undefined>;
    if (partition?.S !== undefined) found.push(partition.S);
    if (pk?.S !== undefined) found.push(`${pk.S} ${sk?.S}`);
    else for (const value of Object.values(part)) look(value);
  };
  look(input);
  return found.join(', ');
}

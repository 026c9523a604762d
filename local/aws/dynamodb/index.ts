import type { RequestListener } from 'node:http';
import type { SdkRequestHandler } from '../request-handler.ts';
import { Engine } from './engine.ts';
import type { DynamoFaults } from './faults.ts';
import type { OperationRecord } from './operation.ts';
import { listenerOf, requestHandlerOf } from './transport.ts';

export type { DynamoFaults, Fault, IncomingRequest } from './faults.ts';
export type { OperationRecord } from './operation.ts';
export { DamagedRow, WriteFailed } from './storage.ts';

/** DynamoDB in this process. README.md of the package says what it does as the service does, and what it does not. */
export interface EmbeddedDynamo {
  /** For the SDK: `new DynamoDBClient({ requestHandler, endpoint: 'http://dynamodb.local', ... })`. */
  readonly requestHandler: SdkRequestHandler;
  /** Failures to inject; none at first. */
  readonly faults: DynamoFaults;
  /** Called after each request, failed ones included; the SDK's own retries are requests too. */
  onOperation: ((record: OperationRecord) => void) | undefined;
  /** Called with what is answered as an internal error: a {@link WriteFailed}, a {@link DamagedRow}, or a bug. */
  onError: ((error: unknown) => void) | undefined;
  /** Reads everything, and tells which rows are damaged. @throws Error where it cannot go on */
  damaged(): AsyncGenerator<string>;
  /**
   * Accepts writes again after one has failed, which may have been done or not. Without a failure it does nothing.
   * @throws Error when the data cannot be opened: then reads fail too, until a later call succeeds
   */
  reopen(): Promise<void>;
  /** Deletes items whose time to live has passed. Runs only when called. @returns how many were deleted */
  expire(now?: Date): Promise<number>;
  /** Waits for writes under way. Later requests fail. */
  close(): Promise<void>;
  /** Serves the same data over node:http. Signatures are not verified: listen on loopback only. */
  listener(): RequestListener;
}

/**
 * Opens a data directory, and creates it if it is absent; without a path, keeps everything in memory.
 * @throws Error when another process has the directory open. A killed process leaves no lock behind.
 */
export async function openDynamo(options: { path?: string } = {}): Promise<EmbeddedDynamo> {
  const engine = await Engine.open(options.path);
  return {
    requestHandler: requestHandlerOf(engine),
    faults: engine.faults,
    get onOperation() {
      return engine.onOperation;
    },
    set onOperation(hook) {
      engine.onOperation = hook;
    },
    get onError() {
      return engine.onError;
    },
    set onError(hook) {
      engine.onError = hook;
    },
    damaged: () => engine.damaged(),
    reopen: () => engine.reopen(),
    expire: (now = new Date()) => engine.expire(now),
    close: () => engine.close(),
    listener: () => listenerOf(engine),
  };
}

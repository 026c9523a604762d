import type { RequestListener } from 'node:http';
import type { SdkRequestHandler } from '../request-handler.ts';
import { Engine } from './engine.ts';
import type { DynamoFaults } from './faults.ts';
import type { OperationRecord } from './operation.ts';
import { listenerOf, requestHandlerOf } from './transport.ts';

export type { DynamoFaults, Fault, IncomingRequest } from './faults.ts';
export type { OperationRecord } from './operation.ts';

/** DynamoDB in this process. README.md of the package says what it does as the service does, and what it does not. */
export interface EmbeddedDynamo {
  /** For the SDK: `new DynamoDBClient({ requestHandler, endpoint: 'http://dynamodb.local', ... })`. */
  readonly requestHandler: SdkRequestHandler;
  /** Failures to inject; none at first. */
  readonly faults: DynamoFaults;
  /** Called after each request, failed ones included; the SDK's own retries are requests too. */
  onOperation: ((record: OperationRecord) => void) | undefined;
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
    expire: (now = new Date()) => engine.expire(now),
    close: () => engine.close(),
    listener: () => listenerOf(engine),
  };
}

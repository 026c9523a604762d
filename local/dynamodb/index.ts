import type { RequestListener } from 'node:http';
import { Engine } from './engine.ts';
import type { DynamoFaults } from './faults.ts';
import type { OperationRecord } from './operation.ts';
import { listenerOf, type RequestHandler, requestHandlerOf } from './transport.ts';

export { ensureTable, type TableDefinition } from './ensure-table.ts';
export type { Fault } from './faults.ts';
export type { OperationRecord } from './operation.ts';

/** DynamoDB in this process. */
export interface EmbeddedDynamo {
  /** For the SDK: `new DynamoDBClient({ requestHandler, endpoint: 'http://dynamodb.local', ... })`. */
  readonly requestHandler: RequestHandler;
  /** How it misbehaves, if it is told to. */
  readonly faults: DynamoFaults;
  /** Called after each request, refused ones included; the SDK's own retries are requests too. */
  onOperation: ((record: OperationRecord) => void) | undefined;
  /** Deletes items whose time to live is over, and counts them. Nothing else calls it. */
  expire(now?: Date): Promise<number>;
  /** Waits for what is being written. Requests after it fail. */
  close(): Promise<void>;
  /** Serves the same over node:http. Signatures are not checked: bind it to loopback only. */
  listener(): RequestListener;
}

/**
 * Opens a data directory, made if absent, or memory if no path is given.
 * @throws Error when another process has the directory open. A process that was killed does not.
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

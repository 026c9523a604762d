import { DynamoError, transactionCanceled } from './errors.ts';

/** What may go wrong with one request. Members combine: late and lost, say. */
export interface Fault {
  /** Milliseconds before the request is looked at. */
  delayMs?: number;
  /** Refuse the request before anything is done. */
  fail?:
    | 'transaction-conflict'
    | 'throttling'
    | 'throughput-exceeded'
    | 'internal-error'
    /** Nothing arrives: the caller sees its connection break. */
    | 'unreachable';
  /** For `transaction-conflict` in a transaction: which of its items is in another one. 0 if not given. */
  conflictAt?: number;
  /** In a batch: leave this many of its last keys or writes undone. All of them is answered as throttling is. */
  unprocessed?: number;
  /** Do all of it, durably, and then break the connection instead of answering. */
  loseAnswer?: boolean;
}

/** A request as it arrives. Each attempt of the SDK's own retries is one. */
export interface IncomingRequest {
  /** As in the API: `PutItem`, `TransactWriteItems`. */
  operation: string;
  input: Readonly<Record<string, unknown>>;
}

/** How the embedded DynamoDB is told to misbehave as the real one may. Harmless as it is made. */
export class DynamoFaults {
  /** Milliseconds by which queries of global indexes lag behind the table. */
  indexDelayMs = 0;
  /** Asked about every request for which nothing is queued. */
  onRequest: ((request: IncomingRequest) => Fault | undefined) | undefined;
  readonly #queued = new Map<string, Fault[]>();

  /** The next `times` requests of an operation (`*`: of any) meet this fault. */
  next(operation: string, fault: Fault, times = 1): void {
    const queue = this.#queued.get(operation) ?? [];
    for (let count = 0; count < times; count++) queue.push(fault);
    this.#queued.set(operation, queue);
  }

  /** Behave again. */
  clear(): void {
    this.indexDelayMs = 0;
    this.onRequest = undefined;
    this.#queued.clear();
  }

  /** The fault that a request meets; one that was queued is used up. */
  take(request: IncomingRequest): Fault {
    const queued = this.#queued.get(request.operation)?.shift() ?? this.#queued.get('*')?.shift();
    return queued ?? this.onRequest?.(request) ?? {};
  }
}

/** A connection that broke: thrown to the SDK, which takes it for a transient network error, and retries. */
export class ConnectionLost extends Error {
  readonly code = 'ECONNRESET';
  constructor() {
    super('socket hang up');
    // The name by which the SDK's retry strategy knows errors of the transport.
    this.name = 'TimeoutError';
  }
}

/** @throws the error that a fault asks for, if it asks for one. */
export function failAsAsked(fault: Fault, { operation, input }: IncomingRequest): void {
  switch (fault.fail) {
    case undefined:
      return;
    case 'unreachable':
      throw new ConnectionLost();
    case 'internal-error':
      throw new DynamoError('InternalServerError', 'Internal server error', {}, 500);
    case 'throttling':
      throw new DynamoError('ThrottlingException', 'Rate of requests exceeds the allowed throughput');
    case 'throughput-exceeded':
      throw throughputExceeded();
    case 'transaction-conflict': {
      const message = 'Transaction is ongoing for the item';
      if (!operation.startsWith('Transact')) throw new DynamoError('TransactionConflictException', message);
      const items = (input['TransactItems'] ?? []) as unknown[];
      throw transactionCanceled(
        items.map((_, index) =>
          index === (fault.conflictAt ?? 0)
            ? { Code: 'TransactionConflict', Message: message }
            : { Code: 'None' },
        ),
      );
    }
  }
}

export const throughputExceeded = () =>
  new DynamoError(
    'ProvisionedThroughputExceededException',
    'The level of configured provisioned throughput for the table was exceeded. ' +
      'Consider increasing your provisioning level with the UpdateTable API.',
  );

import { DynamoError, transactionCanceled } from './errors.ts';

/** What goes wrong with one request. Members combine: delayed and then lost, for example. */
export interface Fault {
  /** Milliseconds before the request is processed. */
  delayMs?: number;
  /** Fail the request before anything is done. */
  fail?:
    | 'transaction-conflict'
    | 'throttling'
    | 'throughput-exceeded'
    | 'internal-error'
    /** The request does not arrive: the caller sees its connection break. */
    | 'unreachable';
  /** For `transaction-conflict` in a transaction: the index of the item in conflict; 0 if absent. */
  conflictAt?: number;
  /** In a batch: leave this many of its last keys or writes unprocessed. If that is all of them, the batch is throttled. */
  unprocessed?: number;
  /** Run the request, durably, and then break the connection instead of answering. */
  loseAnswer?: boolean;
}

/** A request as it arrives; each retry of the SDK is one. */
export interface IncomingRequest {
  /** As in the API: `PutItem`, `TransactWriteItems`. */
  operation: string;
  input: Readonly<Record<string, unknown>>;
}

/** Injects the failures that the real service may show. Injects none until it is configured. */
export class DynamoFaults {
  /** Milliseconds by which global secondary indexes lag behind the table. */
  indexDelayMs = 0;
  /** Called for every request for which no fault is queued. */
  onRequest: ((request: IncomingRequest) => Fault | undefined) | undefined;
  readonly #queued = new Map<string, Fault[]>();

  /** Applies a fault to the next `times` requests of an operation (`*`: of any). */
  next(operation: string, fault: Fault, times = 1): void {
    const queue = this.#queued.get(operation) ?? [];
    for (let count = 0; count < times; count++) queue.push(fault);
    this.#queued.set(operation, queue);
  }

  /** Removes all faults. */
  clear(): void {
    this.indexDelayMs = 0;
    this.onRequest = undefined;
    this.#queued.clear();
  }

  /** The fault for a request; `{}` for none. A queued fault is used once. */
  take(request: IncomingRequest): Fault {
    const queued = this.#queued.get(request.operation)?.shift() ?? this.#queued.get('*')?.shift();
    return queued ?? this.onRequest?.(request) ?? {};
  }
}

/** A broken connection: the SDK treats it as a transient network error, and retries. */
export class ConnectionLost extends Error {
  readonly code = 'ECONNRESET';
  constructor() {
    super('socket hang up');
    // The SDK's retry strategy recognizes transport errors by this name.
    this.name = 'TimeoutError';
  }
}

/** @throws the error of a fault that has one */
export function throwInjected(fault: Fault, { operation, input }: IncomingRequest): void {
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

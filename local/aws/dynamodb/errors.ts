import type { Item } from './attribute.ts';

/**
 * An error in DynamoDB's JSON 1.0 protocol. The names are those of the service's API reference;
 * the SDK turns `__type` into its exception classes and copies the other members onto them.
 */
export class DynamoError extends Error {
  readonly code: string;
  readonly status: number;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: string, message: string, details: Record<string, unknown> = {}, status = 400) {
    super(message);
    this.name = code;
    this.code = code;
    this.status = status;
    this.details = details;
  }

  /** The body of the answer. */
  body(): Record<string, unknown> {
    const space =
      this.code === 'ValidationException'
        ? 'com.amazon.coral.validate'
        : COMMON.has(this.code)
          ? 'com.amazon.coral.service'
          : 'com.amazonaws.dynamodb.v20120810';
    return { __type: `${space}#${this.code}`, message: this.message, ...this.details };
  }
}

const COMMON = new Set(['SerializationException', 'UnknownOperationException', 'ThrottlingException']);

export const invalid = (message: string) => new DynamoError('ValidationException', message);

export const tableNotFound = () =>
  new DynamoError('ResourceNotFoundException', 'Requested resource not found');

export const namedTableNotFound = (name: string) =>
  new DynamoError('ResourceNotFoundException', `Requested resource not found: Table: ${name} not found`);

/** A condition that did not hold. `item` is the existing item, if the request wants it returned (ALL_OLD). */
export class ConditionFailed extends DynamoError {
  readonly item: Item | undefined;
  constructor(item?: Item) {
    super('ConditionalCheckFailedException', 'The conditional request failed', item ? { Item: item } : {});
    this.item = item;
  }
}

/** Why one item of a transaction made it fail; `None` for items that did not. */
export interface CancellationReason {
  Code:
    | 'None'
    | 'ConditionalCheckFailed'
    | 'ValidationError'
    | 'TransactionConflict'
    | 'ItemCollectionSizeLimitExceeded'
    | 'ThrottlingError'
    | 'ProvisionedThroughputExceeded';
  Message?: string;
  Item?: Item;
}

/** A canceled transaction; one reason for each of its items, in their order. */
export function transactionCanceled(reasons: CancellationReason[]): DynamoError {
  const codes = reasons.map((reason) => reason.Code).join(', ');
  const message = `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`;
  return new DynamoError('TransactionCanceledException', message, {
    Message: message,
    CancellationReasons: reasons,
  });
}

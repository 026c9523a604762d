/**
 * Error codes of the JSON protocol with their names in the older query protocol, which the SDK reads from
 * `x-amzn-query-error` (SQS API reference, "Common errors" and each action's errors). All are errors of the caller, with
 * status 400.
 */
const QUERY_CODES = {
  BatchEntryIdsNotDistinct: 'AWS.SimpleQueueService.BatchEntryIdsNotDistinct',
  BatchRequestTooLong: 'AWS.SimpleQueueService.BatchRequestTooLong',
  EmptyBatchRequest: 'AWS.SimpleQueueService.EmptyBatchRequest',
  InvalidAttributeName: 'InvalidAttributeName',
  InvalidMessageContents: 'InvalidMessageContents',
  InvalidParameterValue: 'InvalidParameterValue',
  MessageNotInflight: 'AWS.SimpleQueueService.MessageNotInflight',
  MissingParameter: 'MissingParameter',
  QueueDoesNotExist: 'AWS.SimpleQueueService.NonExistentQueue',
  QueueNameExists: 'QueueAlreadyExists',
  ReceiptHandleIsInvalid: 'ReceiptHandleIsInvalid',
  RequestThrottled: 'RequestThrottled',
  ResourceNotFoundException: 'ResourceNotFoundException',
  TooManyEntriesInBatchRequest: 'AWS.SimpleQueueService.TooManyEntriesInBatchRequest',
  UnsupportedOperation: 'AWS.SimpleQueueService.UnsupportedOperation',
} as const;

export type SqsErrorCode = keyof typeof QUERY_CODES;

export class SqsError extends Error {
  override readonly name = 'SqsError';
  readonly code: SqsErrorCode;

  constructor(code: SqsErrorCode, message: string) {
    super(message);
    this.code = code;
  }

  get queryCode(): string {
    return QUERY_CODES[this.code];
  }
}

export const invalidParameter = (name: string, value: unknown, reason: string) =>
  new SqsError('InvalidParameterValue', `Value ${value} for parameter ${name} is invalid. Reason: ${reason}`);

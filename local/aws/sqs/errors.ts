/**
 * Codes of the JSON protocol with their older names, which the SDK reads from `x-amzn-query-error`
 * (SQS API reference, "Common errors" and each action's errors). All are the caller's fault, status 400.
 */
const queryCodes = {
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

export type SqsErrorCode = keyof typeof queryCodes;

export class SqsError extends Error {
  override readonly name = 'SqsError';
  readonly code: SqsErrorCode;

  constructor(code: SqsErrorCode, message: string) {
    super(message);
    this.code = code;
  }

  get queryCode(): string {
    return queryCodes[this.code];
  }
}

export const invalidParameter = (name: string, value: unknown, reason: string) =>
  new SqsError('InvalidParameterValue', `Value ${value} for parameter ${name} is invalid. Reason: ${reason}`);

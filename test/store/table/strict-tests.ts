/**
 * The title of a test that DynamoDB passes and DynamoDB Local 2.6.1 does not: DynamoDB refuses a transaction that checks
 * and writes one item before it looks at conditions (API reference, TransactWriteItems), the emulator only two writes.
 */
export const TWO_OPERATIONS_ON_ONE_ITEM = 'with two operations on one item is refused by the service';

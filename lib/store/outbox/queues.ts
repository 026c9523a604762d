/** Sends to the SQS queues. Lambda's event source receives from them and calls workers with batches. */
import { ChangeMessageVisibilityCommand, SendMessageBatchCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { StoreUnavailable } from '../errors.ts';
import type { MessageSender } from './outbox.ts';

const BATCH_SIZE = 10;
/** SQS accepts 1 MiB per call; batches stay well below it. */
const BATCH_BYTES = 200_000;

export class Queues implements MessageSender {
  readonly #client: SQSClient;
  readonly #urls: Readonly<Record<string, string>>;

  constructor(client: SQSClient, urls: Readonly<Record<string, string>>) {
    this.#client = client;
    this.#urls = urls;
  }

  /** @throws StoreUnavailable; some of the messages may be queued then, and are sent again */
  async send(
    queue: string,
    messages: readonly { readonly id: string; readonly body: string }[],
  ): Promise<void> {
    const QueueUrl = this.#urls[queue];
    if (QueueUrl === undefined) throw new StoreUnavailable(false, new Error(`unknown queue: ${queue}`));
    for (const batch of batches(messages)) {
      const Entries = batch.map(({ body }, index) => ({ Id: String(index), MessageBody: body }));
      let failed: readonly { Code?: string | undefined }[];
      try {
        const answer = await this.#client.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
        failed = answer.Failed ?? [];
      } catch (error) {
        throw new StoreUnavailable(true, error);
      }
      if (failed.length > 0) throw new StoreUnavailable(false, new Error(`refused: ${failed[0]!.Code}`));
    }
  }
}

/** Makes a received message visible again after this many seconds. */
export async function postpone(
  client: SQSClient,
  queueUrl: string,
  receiptHandle: string,
  seconds: number,
): Promise<void> {
  await client.send(
    new ChangeMessageVisibilityCommand({
      QueueUrl: queueUrl,
      ReceiptHandle: receiptHandle,
      VisibilityTimeout: seconds,
    }),
  );
}

function* batches<T extends { readonly body: string }>(messages: readonly T[]): Generator<T[]> {
  let batch: T[] = [];
  let bytes = 0;
  for (const message of messages) {
    const size = Buffer.byteLength(message.body);
    if (batch.length === BATCH_SIZE || (batch.length > 0 && bytes + size > BATCH_BYTES)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(message);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

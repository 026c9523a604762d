import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';

export interface PollOptions {
  client: SQSClient;
  queueUrl: string;
  queueArn: string;
  /** The maximum number of messages per call of the handler; 10 by default. */
  batchSize?: number;
  /** Concurrent calls of the handler; 1 by default. */
  concurrency?: number;
  /** Seconds; the queue's own if absent. */
  visibilityTimeout?: number;
  /** Seconds after which a failed message is retried; by default when its visibility timeout ends, as in Lambda. */
  retryAfter?: number;
  /** The timeout in the handler's context, in seconds; 30 by default. Not enforced. */
  timeout?: number;
  functionName?: string;
  /** Waited for before each receive. */
  ready?(): Promise<void>;
  /** Whether a message, by its body, is for long work: such messages are handled one after another, beside the others. */
  isLong?(body: string): boolean;
  /** Resolves with an SQSBatchResponse; with nothing if the whole batch succeeded. */
  handler(event: SQSEvent, context: Context): Promise<unknown>;
  /** Called with what the handler threw, or why the queue could not be polled. If absent, errors are printed. */
  onError?(error: unknown): void;
  signal: AbortSignal;
}

/**
 * Delivers messages to a function as Lambda's event source mapping does: receives batches by long polling, calls the
 * handler, deletes the messages that succeeded, and leaves those that failed to become visible again, until the queue's
 * redrive policy moves them to the dead-letter queue. Resolves when `signal` is aborted and the calls under way have ended.
 * ("Using Lambda with Amazon SQS" in the Lambda developer guide.)
 */
export async function pollQueue(options: PollOptions): Promise<void> {
  const long = new LongWork();
  await Promise.all(Array.from({ length: options.concurrency ?? 1 }, () => poll(options, long)));
  await long.idle;
}

/** So many messages for long work are received ahead of their turn; then the queue keeps what follows. */
const MAX_WAITING = 1000;

/** Work that is done one after another. */
class LongWork {
  idle: Promise<void> = Promise.resolve();
  #waiting = 0;

  /** @returns a promise to wait for before more is received */
  add(work: () => Promise<void>): Promise<void> | undefined {
    this.#waiting += 1;
    this.idle = this.idle.then(work).finally(() => {
      this.#waiting -= 1;
    });
    return this.#waiting < MAX_WAITING ? undefined : this.idle;
  }
}

async function poll(options: PollOptions, long: LongWork): Promise<void> {
  const { signal } = options;
  let failures = 0;
  while (!signal.aborted) {
    try {
      await options.ready?.();
      const messages = await receive(options);
      failures = 0;
      const { isLong = () => false } = options;
      const others = messages.filter(({ Body }) => !isLong(Body!));
      const full = messages
        .filter((message) => !others.includes(message))
        .map((message) => long.add(() => deliverInTurn(options, message)));
      if (others.length > 0) await deliver(options, others);
      await Promise.all(full);
    } catch (error) {
      if (signal.aborted) return;
      report(options, error);
      const pause = Math.min(5_000, 50 * 2 ** failures++);
      await delay(pause * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => {});
    }
  }
}

/** Delivers a message for long work, unless the poller stops before its turn: then it is in the queue at the next start. */
async function deliverInTurn(options: PollOptions, message: Message): Promise<void> {
  if (options.signal.aborted) return;
  await deliver(options, [message]).catch((error) => report(options, error));
}

function report({ onError, queueArn }: PollOptions, error: unknown): void {
  if (onError) onError(error);
  else console.error(`poller of ${queueArn}:`, error);
}

/** Waits for the first messages, then receives what is visible at once, up to the batch size. */
async function receive(options: PollOptions): Promise<Message[]> {
  const { client, queueUrl, batchSize = 10, visibilityTimeout, signal } = options;
  const messages: Message[] = [];
  do {
    const max = Math.min(MAX_REQUEST_ENTRIES, batchSize - messages.length);
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({
        QueueUrl: queueUrl,
        MaxNumberOfMessages: max,
        WaitTimeSeconds: messages.length === 0 ? 20 : 0,
        VisibilityTimeout: visibilityTimeout,
        MessageSystemAttributeNames: ['All'],
        MessageAttributeNames: ['All'],
      }),
      // Messages that were received are delivered before the poller stops.
      messages.length === 0 ? { abortSignal: signal } : {},
    );
    messages.push(...Messages);
    if (Messages.length < max) break;
  } while (messages.length < batchSize);
  return messages;
}

async function deliver(options: PollOptions, messages: Message[]): Promise<void> {
  const { client, queueUrl, handler, retryAfter } = options;
  let failed: Set<string>;
  try {
    const event: SQSEvent = { Records: messages.map((message) => toRecord(message, options.queueArn)) };
    failed = failedMessages(await handler(event, createContext(options)), messages);
  } catch (error) {
    report(options, error);
    failed = new Set(messages.map(({ MessageId }) => MessageId!));
  }
  const entry = ({ MessageId, ReceiptHandle }: Message) => ({ Id: MessageId, ReceiptHandle });
  const succeeded = messages.filter(({ MessageId }) => !failed.has(MessageId!)).map(entry);
  const remaining = messages.filter(({ MessageId }) => failed.has(MessageId!)).map(entry);
  for (const Entries of chunksOf(succeeded)) {
    const { Failed = [] } = await client.send(new DeleteMessageBatchCommand({ QueueUrl: queueUrl, Entries }));
    for (const { Id, Code } of Failed) report(options, new Error(`message ${Id} was not deleted: ${Code}`));
  }
  if (retryAfter === undefined) return;
  for (const chunk of chunksOf(remaining)) {
    const Entries = chunk.map((message) => ({ ...message, VisibilityTimeout: retryAfter }));
    await client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: queueUrl, Entries }));
  }
}

/** SQS's limit of messages per request. */
const MAX_REQUEST_ENTRIES = 10;

function* chunksOf<T>(items: T[]): Iterable<T[]> {
  for (let i = 0; i < items.length; i += MAX_REQUEST_ENTRIES) yield items.slice(i, i + MAX_REQUEST_ENTRIES);
}

/** The ids of failed messages. An invalid response, or one with an id that is not in the batch, fails the whole batch. */
function failedMessages(response: unknown, messages: Message[]): Set<string> {
  const all = new Set(messages.map(({ MessageId }) => MessageId!));
  const failures = (response as SQSBatchResponse | undefined | null)?.batchItemFailures;
  if (failures === undefined || failures === null) return new Set();
  if (!Array.isArray(failures)) return all;
  const failed = new Set(failures.map((failure) => failure?.itemIdentifier));
  return [...failed].every((id) => all.has(id)) ? failed : all;
}

function toRecord(message: Message, queueArn: string): SQSRecord {
  const { Attributes = {}, MessageAttributes = {}, MD5OfMessageAttributes } = message;
  return {
    messageId: message.MessageId!,
    receiptHandle: message.ReceiptHandle!,
    body: message.Body!,
    attributes: Attributes as unknown as SQSRecord['attributes'],
    messageAttributes: Object.fromEntries(
      Object.entries(MessageAttributes).map(([name, { DataType, StringValue, BinaryValue }]) => [
        name,
        {
          ...(StringValue === undefined ? {} : { stringValue: StringValue }),
          ...(BinaryValue === undefined ? {} : { binaryValue: Buffer.from(BinaryValue).toString('base64') }),
          stringListValues: [],
          binaryListValues: [],
          dataType: DataType!,
        },
      ]),
    ),
    md5OfBody: message.MD5OfBody!,
    ...(MD5OfMessageAttributes === undefined ? {} : { md5OfMessageAttributes: MD5OfMessageAttributes }),
    eventSource: 'aws:sqs',
    eventSourceARN: queueArn,
    awsRegion: queueArn.split(':')[3] ?? '',
  };
}

function createContext({ functionName = 'local', timeout = 30, queueArn }: PollOptions): Context {
  const deadline = Date.now() + timeout * 1000;
  const [, , , region, account] = queueArn.split(':');
  return {
    callbackWaitsForEmptyEventLoop: false,
    functionName,
    functionVersion: '$LATEST',
    invokedFunctionArn: `arn:aws:lambda:${region}:${account}:function:${functionName}`,
    memoryLimitInMB: '512',
    awsRequestId: randomUUID(),
    logGroupName: `/aws/lambda/${functionName}`,
    logStreamName: 'local',
    getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
    done() {},
    fail() {},
    succeed() {},
  };
}

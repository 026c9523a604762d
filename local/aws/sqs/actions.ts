import { type Broker, DEFAULT_ATTRIBUTES, type OpenQueue } from './broker.ts';
import { invalidParameter, SqsError } from './errors.ts';
import { type Message, type MessageAttributes, md5, md5OfAttributes, sizeOf } from './message.ts';
import { startMessageMoveTask } from './move-task.ts';

/** Bytes; SQS's limit for a message and for a batch. */
const MAX_MESSAGE_BYTES = 2 ** 20;
const MAX_BATCH_ENTRIES = 10;

interface ActionContext {
  broker: Broker;
  /** The part of a queue's URL before its name. */
  urlPrefix: string;
  signal?: AbortSignal | undefined;
  /** The fault of delivery to apply, for ReceiveMessage. */
  delivery?: 'duplicate' | 'outOfOrder' | undefined;
}

// biome-ignore lint/suspicious/noExplicitAny: the JSON of a request, checked by each action
export type Input = Record<string, any>;
export type Action = (input: Input, context: ActionContext) => object | Promise<object>;

/** Actions of the SQS API by name, JSON in and out. */
export const actions: Readonly<Record<string, Action>> = {
  async CreateQueue({ QueueName, Attributes = {} }, { broker, urlPrefix }) {
    if (typeof QueueName !== 'string' || !/^[A-Za-z0-9_-]{1,80}$/.test(QueueName)) {
      throw invalidParameter(
        'QueueName',
        QueueName,
        'a standard queue has 1 to 80 letters, digits, hyphens and underscores; FIFO queues are not supported',
      );
    }
    const attributes = checkAttributes({ ...DEFAULT_ATTRIBUTES, ...Attributes });
    const existing = broker.find(QueueName);
    if (existing === undefined) await broker.configure(QueueName, attributes);
    else if (Object.entries(Attributes).some(([name, value]) => existing.attributes[name] !== value)) {
      throw new SqsError(
        'QueueNameExists',
        'A queue already exists with the same name and a different value.',
      );
    }
    return { QueueUrl: urlPrefix + QueueName };
  },

  async DeleteQueue(input, { broker }) {
    await broker.drop(queueOf(input, broker).name);
    return {};
  },

  GetQueueUrl({ QueueName }, { broker, urlPrefix }) {
    return { QueueUrl: urlPrefix + broker.get(String(QueueName)).name };
  },

  ListQueues({ QueueNamePrefix = '' }, { broker, urlPrefix }) {
    const names = broker.queues().map(({ name }) => name);
    return {
      QueueUrls: names.filter((name) => name.startsWith(QueueNamePrefix)).map((name) => urlPrefix + name),
    };
  },

  GetQueueAttributes(input, { broker }) {
    const open = queueOf(input, broker);
    const { visible, delayed, inFlight } = open.queue.counts();
    const all: Record<string, string> = {
      ...open.attributes,
      QueueArn: open.arn,
      ApproximateNumberOfMessages: String(visible),
      ApproximateNumberOfMessagesDelayed: String(delayed),
      ApproximateNumberOfMessagesNotVisible: String(inFlight),
      CreatedTimestamp: String(Math.floor(open.createdAt / 1000)),
      LastModifiedTimestamp: String(Math.floor(open.modifiedAt / 1000)),
    };
    const requested: string[] = input['AttributeNames'] ?? [];
    const names = requested.includes('All') ? Object.keys(all) : requested.filter((name) => name in all);
    return { Attributes: Object.fromEntries(names.map((name) => [name, all[name]])) };
  },

  async SetQueueAttributes(input, { broker }) {
    const open = queueOf(input, broker);
    await broker.configure(open.name, checkAttributes({ ...open.attributes, ...input['Attributes'] }));
    return {};
  },

  async PurgeQueue(input, { broker }) {
    await broker.purge(queueOf(input, broker).name);
    return {};
  },

  async SendMessage(input, { broker }) {
    return send(queueOf(input, broker), input, broker);
  },

  async SendMessageBatch(input, { broker }) {
    const open = queueOf(input, broker);
    const entries = batchOf(input);
    const size = entries.reduce(
      (sum, entry) => sum + sizeOf(String(entry['MessageBody'] ?? ''), entry['MessageAttributes'] ?? {}),
      0,
    );
    if (size > MAX_MESSAGE_BYTES) {
      throw new SqsError(
        'BatchRequestTooLong',
        `Batch requests cannot be longer than ${MAX_MESSAGE_BYTES} bytes.`,
      );
    }
    return batch(entries, (entry) => send(open, entry, broker));
  },

  async ReceiveMessage(input, { broker, signal, delivery }) {
    const open = queueOf(input, broker);
    const milliseconds = (name: string, max: number, attribute: string) =>
      integer(name, input[name] ?? Number(open.attributes[attribute]), 0, max) * 1000;
    const messages = await open.queue.receive({
      maxMessages: integer('MaxNumberOfMessages', input['MaxNumberOfMessages'] ?? 1, 1, 10),
      visibility: milliseconds('VisibilityTimeout', 43_200, 'VisibilityTimeout'),
      wait: milliseconds('WaitTimeSeconds', 20, 'ReceiveMessageWaitTimeSeconds'),
      reversed: delivery === 'outOfOrder',
      duplicated: delivery === 'duplicate',
      signal,
    });
    return messages.length === 0 ? {} : { Messages: messages.map((message) => present(message, input)) };
  },

  DeleteMessage(input, { broker }) {
    return remove(queueOf(input, broker), input, broker);
  },

  async DeleteMessageBatch(input, { broker }) {
    const open = queueOf(input, broker);
    return batch(batchOf(input), (entry) => remove(open, entry, broker));
  },

  ChangeMessageVisibility(input, { broker }) {
    return changeVisibility(queueOf(input, broker), input);
  },

  async ChangeMessageVisibilityBatch(input, { broker }) {
    const open = queueOf(input, broker);
    return batch(batchOf(input), (entry) => changeVisibility(open, entry));
  },

  StartMessageMoveTask(input, { broker }) {
    return startMessageMoveTask(input, broker);
  },
};

/** The name of a request's queue: the last segment of its URL. */
export const queueName = (input: Input): string | undefined =>
  input['QueueName'] ??
  String(input['QueueUrl'] ?? '')
    .split('/')
    .at(-1);

function queueOf(input: Input, broker: Broker): OpenQueue {
  if (!input['QueueUrl'])
    throw new SqsError('MissingParameter', 'The request must contain the parameter QueueUrl.');
  return broker.get(queueName(input)!);
}

async function send(open: OpenQueue, input: Input, broker: Broker): Promise<object> {
  const { MessageBody: body, DelaySeconds } = input;
  const attributes: MessageAttributes = input['MessageAttributes'] ?? {};
  if (typeof body !== 'string' || body === '') {
    throw new SqsError('MissingParameter', 'The request must contain the parameter MessageBody.');
  }
  // The characters of XML 1.0, by the reference of SendMessage.
  if (/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u.test(body)) {
    throw new SqsError('InvalidMessageContents', 'Invalid characters found in the message body.');
  }
  const max = Math.min(MAX_MESSAGE_BYTES, Number(open.attributes['MaximumMessageSize']));
  if (sizeOf(body, attributes) > max) {
    throw invalidParameter('MessageBody', '(...)', `Message must be shorter than ${max} bytes.`);
  }
  const delay = integer('DelaySeconds', DelaySeconds ?? Number(open.attributes['DelaySeconds']), 0, 900);
  const { id } = await broker.send(open.name, body, attributes, delay * 1000);
  return { MessageId: id, MD5OfMessageBody: md5(body), MD5OfMessageAttributes: md5OfAttributes(attributes) };
}

function present(message: Message, input: Input): object {
  const { id, receipt, body, attributes, sentAt, firstReceivedAt, receiveCount, deadLetterSource } = message;
  const system: Record<string, string | undefined> = {
    SenderId: 'AIDALOCAL',
    SentTimestamp: String(sentAt),
    ApproximateReceiveCount: String(receiveCount),
    ApproximateFirstReceiveTimestamp: String(firstReceivedAt),
    DeadLetterQueueSourceArn: deadLetterSource,
  };
  const requestedSystem: string[] = [
    ...(input['MessageSystemAttributeNames'] ?? []),
    ...(input['AttributeNames'] ?? []),
  ];
  const requested: string[] = input['MessageAttributeNames'] ?? [];
  const chosenSystem = pick(
    system,
    (name) => requestedSystem.includes('All') || requestedSystem.includes(name),
  );
  const chosen = pick(attributes, (name) =>
    requested.some(
      (pattern) =>
        pattern === 'All' ||
        pattern === name ||
        (pattern.endsWith('.*') && name.startsWith(pattern.slice(0, -1))),
    ),
  );
  return {
    MessageId: id,
    ReceiptHandle: Buffer.from(`${id} ${receipt}`).toString('base64'),
    MD5OfBody: md5(body),
    Body: body,
    Attributes: chosenSystem,
    MessageAttributes: chosen,
    MD5OfMessageAttributes: chosen && md5OfAttributes(chosen),
  };
}

function pick<T>(record: Record<string, T | undefined>, matches: (name: string) => boolean) {
  const entries = Object.entries(record).filter(([name, value]) => value !== undefined && matches(name));
  return entries.length === 0 ? undefined : (Object.fromEntries(entries) as Record<string, T>);
}

/** Deleting by an old receipt, or a second time, succeeds and has no effect, as in SQS. */
function remove(open: OpenQueue, input: Input, broker: Broker): object {
  const { id, receipt } = readHandle(input);
  const message = open.queue.findByReceipt(id, receipt);
  if (message !== undefined) broker.remove(open, message);
  return {};
}

function changeVisibility(open: OpenQueue, input: Input): object {
  const { id, receipt } = readHandle(input);
  const timeout = integer('VisibilityTimeout', input['VisibilityTimeout'], 0, 43_200);
  const message = open.queue.findByReceipt(id, receipt);
  if (message === undefined || !open.queue.isInFlight(message)) {
    throw new SqsError('MessageNotInflight', 'The specified message is not in flight.');
  }
  open.queue.changeVisibility(message, Date.now() + timeout * 1000);
  return {};
}

function readHandle({ ReceiptHandle }: Input): { id: string; receipt: string } {
  const match = /^([0-9a-f-]{36}) ([0-9a-f-]{36})$/.exec(
    Buffer.from(String(ReceiptHandle), 'base64').toString(),
  );
  if (match === null) {
    throw new SqsError('ReceiptHandleIsInvalid', `The input receipt handle "${ReceiptHandle}" is not valid.`);
  }
  return { id: match[1]!, receipt: match[2]! };
}

function batchOf({ Entries = [] }: Input): Input[] {
  const entries: Input[] = Entries;
  if (entries.length === 0) {
    throw new SqsError('EmptyBatchRequest', 'There should be at least one entry in the request.');
  }
  if (entries.length > MAX_BATCH_ENTRIES) {
    throw new SqsError(
      'TooManyEntriesInBatchRequest',
      `Maximum number of entries per request are ${MAX_BATCH_ENTRIES}.`,
    );
  }
  if (new Set(entries.map(({ Id }) => Id)).size < entries.length) {
    throw new SqsError(
      'BatchEntryIdsNotDistinct',
      'Two or more batch entries in the request have the same Id.',
    );
  }
  return entries;
}

async function batch(entries: Input[], perform: (entry: Input) => object | Promise<object>): Promise<object> {
  const Successful: object[] = [];
  const Failed: object[] = [];
  await Promise.all(
    entries.map(async (entry) => {
      const { Id } = entry;
      try {
        Successful.push({ Id, ...(await perform(entry)) });
      } catch (error) {
        if (!(error instanceof SqsError)) throw error;
        Failed.push({ Id, Code: error.code, Message: error.message, SenderFault: true });
      }
    }),
  );
  return Failed.length === 0 ? { Successful } : { Successful, Failed };
}

function integer(name: string, value: unknown, min: number, max: number): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max) {
    throw invalidParameter(name, value, `Must be an integer from ${min} to ${max}.`);
  }
  return value;
}

/** Ranges of the numeric attributes, from the reference of CreateQueue. */
const NUMERIC_ATTRIBUTES: Record<string, [min: number, max: number]> = {
  DelaySeconds: [0, 900],
  MaximumMessageSize: [1024, MAX_MESSAGE_BYTES],
  MessageRetentionPeriod: [60, 1_209_600],
  ReceiveMessageWaitTimeSeconds: [0, 20],
  VisibilityTimeout: [0, 43_200],
};
/** Attributes that are stored and returned without effect. */
const IGNORED_ATTRIBUTES = [
  'KmsDataKeyReusePeriodSeconds',
  'KmsMasterKeyId',
  'Policy',
  'RedriveAllowPolicy',
  'SqsManagedSseEnabled',
];

function checkAttributes(attributes: Record<string, string>): Record<string, string> {
  for (const [name, value] of Object.entries(attributes)) {
    const range = NUMERIC_ATTRIBUTES[name];
    if (range !== undefined) integer(name, Number(value), ...range);
    else if (name === 'RedrivePolicy') checkRedrivePolicy(value);
    else if (!IGNORED_ATTRIBUTES.includes(name))
      throw new SqsError('InvalidAttributeName', `Unknown Attribute ${name}.`);
  }
  return attributes;
}

function checkRedrivePolicy(value: string): void {
  if (value === '') return;
  try {
    const { deadLetterTargetArn, maxReceiveCount } = JSON.parse(value) as Record<string, unknown>;
    if (typeof deadLetterTargetArn === 'string') {
      integer('maxReceiveCount', Number(maxReceiveCount), 1, 1000);
      return;
    }
  } catch {
    // Not JSON: reported below.
  }
  throw invalidParameter(
    'RedrivePolicy',
    value,
    'Must have deadLetterTargetArn and maxReceiveCount (1 to 1000).',
  );
}

import {
  CreateQueueCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { type EmbeddedSqs, openSqs, type SqsOptions } from '@lemnos/embedded-aws/sqs';

export interface Fixture extends AsyncDisposable {
  sqs: EmbeddedSqs;
  client: SQSClient;
  /** @returns the queue's URL */
  create(name: string, attributes?: Record<string, string>): Promise<string>;
  send(QueueUrl: string, MessageBody: string, more?: object): Promise<string>;
  receive(QueueUrl: string, more?: object): Promise<Received[]>;
  remove(QueueUrl: string, ReceiptHandle: string): Promise<unknown>;
  /** Visible, delayed, in flight. */
  counts(QueueUrl: string): Promise<number[]>;
}

interface Received {
  body: string;
  id: string;
  handle: string;
  count: number;
  attributes: Record<string, string>;
}

export async function openFixture(options: SqsOptions = {}): Promise<Fixture> {
  const sqs = await openSqs(options);
  const client = new SQSClient({
    region: 'us-east-1',
    endpoint: 'http://sqs.local',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    requestHandler: sqs.requestHandler,
    maxAttempts: 1,
  });
  return {
    sqs,
    client,
    [Symbol.asyncDispose]: () => sqs.close(),
    async create(QueueName, Attributes = {}) {
      return (await client.send(new CreateQueueCommand({ QueueName, Attributes }))).QueueUrl!;
    },
    async send(QueueUrl, MessageBody, more = {}) {
      return (await client.send(new SendMessageCommand({ QueueUrl, MessageBody, ...more }))).MessageId!;
    },
    async receive(QueueUrl, more = {}) {
      const command = new ReceiveMessageCommand({
        QueueUrl,
        MaxNumberOfMessages: 10,
        MessageSystemAttributeNames: ['All'],
        ...more,
      });
      const { Messages = [] } = await client.send(command);
      return Messages.map(({ Body, MessageId, ReceiptHandle, Attributes = {} }) => ({
        body: Body!,
        id: MessageId!,
        handle: ReceiptHandle!,
        count: Number(Attributes.ApproximateReceiveCount),
        attributes: Attributes as Record<string, string>,
      }));
    },
    remove: (QueueUrl, ReceiptHandle) => client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle })),
    async counts(QueueUrl) {
      const { Attributes = {} } = await client.send(
        new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }),
      );
      return ['', 'Delayed', 'NotVisible'].map((kind) =>
        Number(Attributes[`ApproximateNumberOfMessages${kind}` as 'ApproximateNumberOfMessages']),
      );
    },
  };
}

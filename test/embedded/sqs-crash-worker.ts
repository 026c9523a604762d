/** Sends and consumes until it is killed: `node sqs-crash-worker.ts <dir> <round>`. Prints a line per acknowledged step. */
import { writeSync } from 'node:fs';
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { openSqs } from '@lemnos/embedded-aws/sqs';

const [dir, round] = process.argv.slice(2);
const { requestHandler } = await openSqs({ dir: dir! });
const client = new SQSClient({
  region: 'us-east-1',
  endpoint: 'http://sqs.local',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  requestHandler,
});
const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName: 'crash' }));

async function produce(producer: number): Promise<never> {
  for (let i = 0; ; i++) {
    const bodies = [`${round}:${producer}:${i}`];
    if (i % 3 === 0) bodies.push(`${bodies[0]}b`, `${bodies[0]}c`);
    if (bodies.length === 1) await client.send(new SendMessageCommand({ QueueUrl, MessageBody: bodies[0]! }));
    else {
      const Entries = bodies.map((MessageBody, n) => ({ Id: `${n}`, MessageBody }));
      await client.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
    }
    for (const body of bodies) writeSync(1, `sent ${body}\n`);
  }
}

async function consume(): Promise<never> {
  for (;;) {
    const { Messages = [] } = await client.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 5 }));
    for (const { Body, ReceiptHandle } of Messages) {
      // Printed before: a deletion without an acknowledgement may have happened.
      writeSync(1, `consumed ${Body}\n`);
      await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
    }
  }
}

await Promise.all([produce(0), produce(1), consume()]);

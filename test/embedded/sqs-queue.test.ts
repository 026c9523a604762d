import { mkdtemp, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  ChangeMessageVisibilityBatchCommand,
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  ListQueuesCommand,
  PurgeQueueCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SetQueueAttributesCommand,
  StartMessageMoveTaskCommand,
} from '@aws-sdk/client-sqs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Fixture, openFixture } from './sqs-fixture.ts';

let fixture: Fixture;
let queue: string;
beforeEach(async () => {
  fixture = await openFixture();
  queue = await fixture.create('jobs');
});
afterEach(() => fixture[Symbol.asyncDispose]());

const changeVisibility = (ReceiptHandle: string, VisibilityTimeout: number) =>
  fixture.client.send(
    new ChangeMessageVisibilityCommand({ QueueUrl: queue, ReceiptHandle, VisibilityTimeout }),
  );

describe('messages', () => {
  it('have body, attributes and digests that the SDK verifies', async () => {
    const MessageAttributes = {
      text: { DataType: 'String', StringValue: 'Λῆμνος' },
      number: { DataType: 'Number', StringValue: '7' },
      bytes: { DataType: 'Binary', BinaryValue: Buffer.from([0, 255, 1]) },
    };
    const command = new SendMessageCommand({ QueueUrl: queue, MessageBody: 'body ü', MessageAttributes });
    const sent = await fixture.client.send(command);
    const { Messages } = await fixture.client.send(
      new ReceiveMessageCommand({
        QueueUrl: queue,
        MessageAttributeNames: ['All'],
        MessageSystemAttributeNames: ['All'],
      }),
    );
    expect(Messages).toHaveLength(1);
    const [message] = Messages!;
    expect(message).toMatchObject({
      MessageId: sent.MessageId,
      Body: 'body ü',
      MD5OfBody: sent.MD5OfMessageBody,
      MD5OfMessageAttributes: sent.MD5OfMessageAttributes,
      Attributes: { ApproximateReceiveCount: '1' },
    });
    expect(message!.MessageAttributes!['text']!.StringValue).toBe('Λῆμνος');
    expect([...message!.MessageAttributes!['bytes']!.BinaryValue!]).toEqual([0, 255, 1]);
  });

  it('are invisible while in flight, and gone when deleted', async () => {
    await fixture.send(queue, 'once');
    const [message] = await fixture.receive(queue);
    expect(await fixture.receive(queue)).toEqual([]);
    expect(await fixture.counts(queue)).toEqual([0, 0, 1]);
    await fixture.remove(queue, message!.handle);
    await fixture.remove(queue, message!.handle);
    expect(await fixture.counts(queue)).toEqual([0, 0, 0]);
  });

  it('are delivered again when the visibility timeout ends; the old receipt then deletes nothing', async () => {
    await fixture.send(queue, 'again');
    const [first] = await fixture.receive(queue, { VisibilityTimeout: 1 });
    const [second] = await fixture.receive(queue, { WaitTimeSeconds: 3 });
    expect([second?.body, second?.count]).toEqual(['again', 2]);
    await fixture.remove(queue, first!.handle);
    await changeVisibility(second!.handle, 0);
    expect(await fixture.receive(queue)).toMatchObject([{ count: 3 }]);
  });

  it('can change their visibility timeout', async () => {
    await fixture.send(queue, 'patient');
    const [message] = await fixture.receive(queue, { VisibilityTimeout: 1 });
    await changeVisibility(message!.handle, 30);
    await delay(1_100);
    expect(await fixture.receive(queue)).toEqual([]);
    const batch = await fixture.client.send(
      new ChangeMessageVisibilityBatchCommand({
        QueueUrl: queue,
        Entries: [
          { Id: 'a', ReceiptHandle: message!.handle, VisibilityTimeout: 0 },
          { Id: 'b', ReceiptHandle: 'nonsense', VisibilityTimeout: 0 },
        ],
      }),
    );
    expect(batch.Successful?.map(({ Id }) => Id)).toEqual(['a']);
    expect(batch.Failed).toMatchObject([{ Id: 'b', Code: 'ReceiptHandleIsInvalid', SenderFault: true }]);
    expect(await fixture.receive(queue)).toHaveLength(1);
    await expect(changeVisibility(message!.handle, 5)).rejects.toMatchObject({ name: 'MessageNotInflight' });
  });

  it('can be delayed, by message or by queue', async () => {
    await fixture.send(queue, 'later', { DelaySeconds: 1 });
    await fixture.send(queue, 'now');
    expect(await fixture.counts(queue)).toEqual([1, 1, 0]);
    expect(await fixture.receive(queue)).toMatchObject([{ body: 'now' }]);
    const started = performance.now();
    expect(await fixture.receive(queue, { WaitTimeSeconds: 20 })).toMatchObject([{ body: 'later' }]);
    // Long before the poll is up.
    expect(performance.now() - started).toBeLessThan(15_000);
    const slow = await fixture.create('slow', { DelaySeconds: '900' });
    await fixture.send(slow, 'x');
    expect(await fixture.counts(slow)).toEqual([0, 1, 0]);
  });

  it('are rejected above the limits', async () => {
    const refused = (body: string, more = {}) =>
      fixture.send(queue, body, more).catch((error: Error) => error.name);
    expect(await refused('\u0000')).toBe('InvalidMessageContents');
    expect(await refused('\ufffe')).toBe('InvalidMessageContents');
    expect(await refused('x'.repeat(2 ** 20 + 1))).toBe('InvalidParameterValue');
    expect(await refused('x', { DelaySeconds: 901 })).toBe('InvalidParameterValue');
    expect(await refused('x'.repeat(2 ** 20))).not.toMatch(/^Invalid/);
  });

  it('are sent and deleted in batches of at most ten', async () => {
    const sendBatch = (n: number, body = 'x') =>
      fixture.client.send(
        new SendMessageBatchCommand({
          QueueUrl: queue,
          Entries: Array.from({ length: n }, (_, i) => ({ Id: `m${i}`, MessageBody: `${body}${i}` })),
        }),
      );
    expect((await sendBatch(10)).Successful).toHaveLength(10);
    await expect(sendBatch(11)).rejects.toMatchObject({ name: 'TooManyEntriesInBatchRequest' });
    await expect(sendBatch(0)).rejects.toMatchObject({ name: 'EmptyBatchRequest' });
    await expect(sendBatch(10, 'x'.repeat(110_000))).rejects.toMatchObject({ name: 'BatchRequestTooLong' });
    const received = await fixture.receive(queue);
    expect(received.map(({ body }) => body).sort()).toEqual(Array.from({ length: 10 }, (_, i) => `x${i}`));
    const Entries = received.map(({ id: Id, handle: ReceiptHandle }) => ({ Id, ReceiptHandle }));
    await fixture.client.send(new DeleteMessageBatchCommand({ QueueUrl: queue, Entries }));
    expect(await fixture.counts(queue)).toEqual([0, 0, 0]);
  });

  it('go to the dead-letter queue after maxReceiveCount receives', async () => {
    const dead = await fixture.create('dead');
    const deadArn = 'arn:aws:sqs:us-east-1:000000000000:dead';
    const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: deadArn, maxReceiveCount: 2 });
    const source = await fixture.create('source', { RedrivePolicy });
    const id = await fixture.send(source, 'poison');
    for (const count of [1, 2]) {
      expect(await fixture.receive(source, { VisibilityTimeout: 0 })).toMatchObject([{ count }]);
    }
    expect(await fixture.receive(source)).toEqual([]);
    const [message] = await fixture.receive(dead);
    expect(message).toMatchObject({
      id,
      body: 'poison',
      attributes: { DeadLetterQueueSourceArn: 'arn:aws:sqs:us-east-1:000000000000:source' },
    });
  });

  it('a dead letter is moved back as a new message, unless it is in flight', async () => {
    const dead = await fixture.create('dead');
    const arn = (name: string) => `arn:aws:sqs:us-east-1:000000000000:${name}`;
    const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: arn('dead'), maxReceiveCount: 1 });
    const source = await fixture.create('source', { RedrivePolicy });
    const id = await fixture.send(source, 'first');
    await fixture.send(source, 'second');
    await fixture.receive(source, { VisibilityTimeout: 0, MaxNumberOfMessages: 10 });
    expect(await fixture.receive(source, { MaxNumberOfMessages: 10 })).toEqual([]);
    const [held] = await fixture.receive(dead, { MaxNumberOfMessages: 1 });
    const move = (input: { SourceArn: string; DestinationArn?: string }) =>
      fixture.client.send(new StartMessageMoveTaskCommand(input));
    expect((await move({ SourceArn: arn('dead') })).TaskHandle).toBeTruthy();
    const back = await fixture.receive(source, { MaxNumberOfMessages: 10 });
    expect(back).toEqual([expect.objectContaining({ count: 1 })]);
    expect(new Set([held!.body, back[0]!.body])).toEqual(new Set(['first', 'second']));
    expect(back[0]!.id).not.toBe(id);
    expect(await fixture.counts(dead)).toEqual([0, 0, 1]);

    await expect(move({ SourceArn: arn('nowhere') })).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
    });
    await expect(move({ SourceArn: arn('source') })).rejects.toMatchObject({ name: 'InvalidParameterValue' });
    await expect(move({ SourceArn: arn('dead'), DestinationArn: arn('nowhere') })).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
    });
  });
});

describe('a long poll', () => {
  it('ends when a message is sent', async () => {
    const waiting = fixture.receive(queue, { WaitTimeSeconds: 20 });
    await delay(50);
    const started = performance.now();
    await fixture.send(queue, 'wake');
    expect(await waiting).toMatchObject([{ body: 'wake' }]);
    // Long before its time is up.
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  it('ends with no messages when it times out, and when the queue is closed', async () => {
    const started = performance.now();
    expect(await fixture.receive(queue, { WaitTimeSeconds: 1 })).toEqual([]);
    expect(performance.now() - started).toBeGreaterThan(990);
    // The queue closes when the poll has reached it.
    const asked = vi.spyOn(fixture.sqs.requestHandler, 'handle');
    const waiting = fixture.receive(queue, { WaitTimeSeconds: 20 });
    await vi.waitFor(() => expect(asked).toHaveBeenCalled(), 60_000);
    await new Promise(setImmediate);
    await fixture.sqs.close();
    expect(await waiting).toEqual([]);
  });

  it('that was aborted takes no message', async () => {
    const abort = new AbortController();
    const command = new ReceiveMessageCommand({ QueueUrl: queue, WaitTimeSeconds: 20 });
    const waiting = fixture.client.send(command, { abortSignal: abort.signal });
    setTimeout(() => abort.abort(), 10);
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
    await fixture.send(queue, 'mine');
    expect(await fixture.receive(queue)).toMatchObject([{ body: 'mine', count: 1 }]);
  });
});

describe('queues', () => {
  it('are created once, found, listed, changed, purged and deleted', async () => {
    const { client } = fixture;
    expect(await fixture.create('jobs')).toBe(queue);
    await expect(fixture.create('jobs', { VisibilityTimeout: '99' })).rejects.toMatchObject({
      name: 'QueueNameExists',
    });
    await expect(fixture.create('jobs.fifo')).rejects.toMatchObject({ name: 'InvalidParameterValue' });
    await expect(fixture.create('new', { Colour: 'red' })).rejects.toMatchObject({
      name: 'InvalidAttributeName',
    });
    const badPolicy = new CreateQueueCommand({ QueueName: 'new', Attributes: { RedrivePolicy: '{}' } });
    await expect(client.send(badPolicy)).rejects.toMatchObject({ name: 'InvalidParameterValue' });
    expect((await client.send(new GetQueueUrlCommand({ QueueName: 'jobs' }))).QueueUrl).toBe(queue);
    expect((await client.send(new ListQueuesCommand({}))).QueueUrls).toEqual([queue]);
    const Attributes = { VisibilityTimeout: '99' };
    await client.send(new SetQueueAttributesCommand({ QueueUrl: queue, Attributes }));
    const read = new GetQueueAttributesCommand({
      QueueUrl: queue,
      AttributeNames: ['VisibilityTimeout', 'QueueArn'],
    });
    expect((await client.send(read)).Attributes).toEqual({
      VisibilityTimeout: '99',
      QueueArn: 'arn:aws:sqs:us-east-1:000000000000:jobs',
    });
    await fixture.send(queue, 'x');
    await client.send(new PurgeQueueCommand({ QueueUrl: queue }));
    expect(await fixture.receive(queue)).toEqual([]);
    await client.send(new DeleteQueueCommand({ QueueUrl: queue }));
    await expect(fixture.send(queue, 'x')).rejects.toMatchObject({ name: 'QueueDoesNotExist' });
  });
});

describe('faults', () => {
  it('fail, lose answers and time out', async () => {
    const { faults } = fixture.sqs;
    faults.inject({
      operation: 'SendMessage',
      on: 'jobs',
      fault: { kind: 'error', code: 'RequestThrottled' },
    });
    await expect(fixture.send(queue, 'a')).rejects.toMatchObject({ name: 'RequestThrottled' });
    faults.inject({ fault: { kind: 'error', code: 'InternalFailure' } });
    await expect(fixture.send(queue, 'a')).rejects.toMatchObject({ $metadata: { httpStatusCode: 500 } });
    faults.inject({ fault: { kind: 'timeout' } });
    await expect(fixture.send(queue, 'a')).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(await fixture.counts(queue)).toEqual([0, 0, 0]);
    faults.inject({ operation: 'SendMessage', fault: { kind: 'lostAnswer' } });
    await expect(fixture.send(queue, 'a')).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(await fixture.counts(queue)).toEqual([1, 0, 0]);
  });

  it('deliver twice', async () => {
    await fixture.send(queue, 'twice');
    fixture.sqs.faults.inject({ operation: 'ReceiveMessage', fault: { kind: 'duplicate' } });
    const [first] = await fixture.receive(queue);
    const [second] = await fixture.receive(queue);
    expect([first?.id, first?.count, second?.count]).toEqual([second?.id, 1, 2]);
    await fixture.remove(queue, second!.handle);
    expect(await fixture.counts(queue)).toEqual([0, 0, 0]);
  });

  it('deliver out of order', async () => {
    for (const body of ['1', '2', '3']) await fixture.send(queue, body);
    fixture.sqs.faults.inject({ operation: 'ReceiveMessage', fault: { kind: 'outOfOrder' } });
    expect((await fixture.receive(queue)).map(({ body }) => body)).toEqual(['3', '2', '1']);
  });
});

describe('in a directory', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'sqs-test-'));
  });
  afterEach(() => rm(dir, { recursive: true }));

  it('queues, messages and receive counts survive a restart; messages in flight are visible again', async () => {
    {
      await using first = await openFixture({ dir });
      const url = await first.create('kept', { VisibilityTimeout: '7' });
      for (const body of ['in flight', 'deleted', 'waiting']) await first.send(url, body);
      const [, gone] = await first.receive(url, { MaxNumberOfMessages: 2, VisibilityTimeout: 900 });
      await first.remove(url, gone!.handle);
      await first.send(url, 'delayed', { DelaySeconds: 900 });
    }
    await using second = await openFixture({ dir });
    const url = await second.create('kept', { VisibilityTimeout: '7' });
    expect(await second.counts(url)).toEqual([2, 1, 0]);
    expect((await second.receive(url)).map(({ body, count }) => [body, count])).toEqual([
      ['in flight', 2],
      ['waiting', 1],
    ]);
  });

  it('a torn last record is dropped, damage before the end is reported', async () => {
    {
      await using first = await openFixture({ dir });
      const url = await first.create('torn');
      await first.send(url, 'whole');
      await first.send(url, 'torn');
    }
    const file = join(dir, 'journal');
    await truncate(file, (await stat(file)).size - 10);
    {
      await using second = await openFixture({ dir });
      const url = await second.create('torn');
      expect(await second.receive(url, { VisibilityTimeout: 0 })).toMatchObject([{ body: 'whole' }]);
      await second.send(url, 'after');
    }
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replace('whole', 'whale'));
    await expect(openFixture({ dir })).rejects.toThrow(/damaged/);
  });

  it('the journal is rewritten when it has grown, without losing state', async () => {
    {
      await using first = await openFixture({ dir });
      const url = await first.create('busy');
      await first.send(url, 'stays');
      const [held] = await first.receive(url, { VisibilityTimeout: 600 });
      for (let i = 0; i < 100; i++) {
        await first.send(url, 'x'.repeat(100_000));
        const [message] = await first.receive(url);
        await first.remove(url, message!.handle);
      }
      expect(held?.body).toBe('stays');
      expect((await stat(join(dir, 'journal'))).size).toBeLessThan(5_000_000);
    }
    await using second = await openFixture({ dir });
    const url = await second.create('busy');
    expect(await second.receive(url)).toMatchObject([{ body: 'stays', count: 2 }]);
  });
});

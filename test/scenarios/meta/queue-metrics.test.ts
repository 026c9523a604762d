import { GetQueueUrlCommand, ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { expect, test } from 'vitest';
import { areasOf } from '../../../functions/areas.ts';
import { awsClients } from '../../../lib/store/clients.ts';
import { ownService } from '../../harness/own-service.ts';

/** Without workers, so that messages stay. */
const service = ownService({ background: false });

const ask = async (path: string) => {
  const { status, body } = await service.call('GET', `/sidekiq/${path}`, { token: service.rootToken });
  expect(status).toBe(200);
  return body;
};

async function send(queue: string, delaySeconds = 0): Promise<void> {
  const { QueueUrl } = await awsClients().sqs.send(new GetQueueUrlCommand({ QueueName: queue }));
  await awsClients().sqs.send(
    new SendMessageCommand({ QueueUrl, MessageBody: '{}', DelaySeconds: delaySeconds }),
  );
}

test('administrators see how many jobs wait in each queue, are under way and were given up', async () => {
  const queues = areasOf('worker').map(({ queue }) => queue);
  const before = await ask('compound_metrics');
  expect(Object.keys(before.queues).sort()).toEqual([...queues].sort());

  await send('mail');
  await send('mail');
  await send('forks');
  await send('forks', 600);
  await send('ingest-dead');
  const { QueueUrl } = await awsClients().sqs.send(new GetQueueUrlCommand({ QueueName: 'mail' }));
  await awsClients().sqs.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 1 }));

  const after = await ask('compound_metrics');
  expect(after.queues.mail).toEqual({ backlog: before.queues.mail.backlog + 1, latency: 0 });
  expect(after.queues.forks).toEqual({ backlog: before.queues.forks.backlog + 1, latency: 0 });
  expect(after.queues.ingest).toEqual(before.queues.ingest);
  // Two of mail, one of them under way, and two of forks, one of them later.
  expect(after.jobs).toEqual({
    processed: 0,
    failed: 0,
    enqueued: before.jobs.enqueued + 4,
    dead: before.jobs.dead + 1,
  });
  expect(after.processes).toEqual([]);
});

test('each part alone says what all say together', async () => {
  const { queues, processes, jobs } = await ask('compound_metrics');
  expect(await ask('queue_metrics')).toEqual({ queues });
  expect(await ask('process_metrics')).toEqual({ processes });
  expect(await ask('job_stats')).toEqual({ jobs });
});

/** The drill of docs/operations.md, "A message in a dead-letter queue": five failures, mended, put back, done once. */
import { GetQueueAttributesCommand, GetQueueUrlCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deps } from '../../functions/deps.ts';
import { handler as mailWorker } from '../../functions/mail.ts';
import { mailMessage } from '../../lib/domain/mail/message.ts';
import { awsClients } from '../../lib/store/clients.ts';
import { correlated } from '../../lib/telemetry/correlation.ts';
import { pollQueue } from '../../local/poller.ts';
import { redrive } from '../../local/redrive.ts';
import { LogLines } from '../harness/log-lines.ts';
import { type Service, startService } from '../harness/service.ts';

let service: Service;
let lines: LogLines;
const stopping = new AbortController();
let poller: Promise<void>;

beforeAll(async () => {
  lines = LogLines.watch();
  service = await startService({ background: false });
  // The host's own poller waits half a minute before a message that failed comes again.
  poller = pollQueue({
    client: awsClients().sqs,
    queueUrl: process.env['QUEUE_URL_MAIL']!,
    queueArn: 'arn:aws:sqs:local:000000000000:mail',
    retryAfter: 0,
    functionName: 'mail',
    // A worker begins no message that its function has no time for.
    timeout: 480,
    handler: (event, context) => mailWorker(event, context),
    signal: stopping.signal,
  });
});
afterAll(async () => {
  stopping.abort();
  await poller;
  await service.stop();
});

async function waiting(QueueName: string): Promise<number> {
  const { sqs } = awsClients();
  const { QueueUrl } = await sqs.send(new GetQueueUrlCommand({ QueueName }));
  const asked = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] });
  const Attributes: Record<string, string | undefined> = (await sqs.send(asked)).Attributes ?? {};
  return ['', 'NotVisible'].reduce(
    (sum, which) => sum + Number(Attributes[`ApproximateNumberOfMessages${which}`]),
    0,
  );
}

test('a mail that cannot be sent goes to the dead letters after five attempts, and is sent once after a redrive', async () => {
  const heal = service.host.ses.faults.inject({
    // SES answers so while an account's sending is paused, which an operator can lift.
    fault: { kind: 'error', code: 'MessageRejected' },
    times: Number.POSITIVE_INFINITY,
  });
  const promise = (to: string) => mailMessage({ to, subject: 'Hello', text: 'A line.' });
  await correlated('the-request', () =>
    deps().store.outbox.commit([], [promise('late@example.com'), promise('later@example.com')]),
  );
  await expect.poll(() => waiting('mail-dead')).toBe(2);
  expect(await waiting('mail')).toBe(0);

  // What an operator sees: five failures of each, under the id of the request, and none of a mail's text.
  const failures = lines.of('the-request');
  expect(failures.map(({ outcome, receives }) => [outcome, receives]).sort()).toEqual(
    [1, 1, 2, 2, 3, 3, 4, 4, 5, 5].map((times) => ['failed', times]),
  );
  expect(failures[0]).toMatchObject({ level: 'ERROR', area: 'mail', job: 'mail.send', JobsFailed: 1 });
  expect(lines.text).not.toContain('A line.');

  // Put back before it is mended, it is given up again and nothing is lost.
  await redrive();
  await expect.poll(() => lines.of('the-request').length).toBe(20);
  await expect.poll(() => waiting('mail-dead')).toBe(2);

  heal();
  expect([...(await redrive())]).toEqual([['mail', 2]]);
  await expect.poll(() => waiting('mail')).toBe(0);
  expect(await waiting('mail-dead')).toBe(0);
  expect(await service.mailTo('late@example.com')).toHaveLength(1);
  expect(await service.mailTo('later@example.com')).toHaveLength(1);
  expect([...(await redrive())]).toEqual([]);
});

test('a mail that was sent before its message failed is not sent again after a redrive', async () => {
  const heal = service.host.ses.faults.inject({
    fault: { kind: 'error', code: 'MessageRejected' },
    times: Number.POSITIVE_INFINITY,
  });
  const message = mailMessage({ to: 'once@example.com', subject: 'Once', text: 'Only once.' });
  await deps().store.outbox.commit([], [message]);
  await expect.poll(() => waiting('mail-dead')).toBe(1);
  heal();
  // The same message came twice: one copy was given up, another went through.
  await service.host.invoke('mail', {
    Records: [{ messageId: 'm', body: JSON.stringify(message), attributes: {} }],
  });
  await redrive();
  await expect.poll(async () => (await waiting('mail')) + (await waiting('mail-dead'))).toBe(0);
  expect(await service.mailTo('once@example.com')).toHaveLength(1);
});

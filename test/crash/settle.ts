import { setTimeout as sleep } from 'node:timers/promises';
import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { awsClients } from '../../lib/store/clients.ts';
import { startHost } from '../../local/host.ts';
import { redrive } from '../../local/redrive.ts';
import { SimulatedClock } from './simulated-clock.ts';

/**
 * A host that nobody talks to: what was given up under kills is put back, as docs/operations.md says, then two sweeps,
 * each until the queues are empty, and an orderly end.
 */
const host = await startHost({ dataDir: process.argv[2]!, port: 0, host: '127.0.0.1' });
/** Measuring waits for less than a minute, for what else changes. */
const AHEAD_MS = 60_000;
const urls = Object.entries(process.env).flatMap(([name, url]) =>
  name.startsWith('QUEUE_URL_') ? [url!] : [],
);
// By the clock of the hosts before it, so that what they promised falls due.
new SimulatedClock(host, process.argv[2]!);
for (let sweeps = 0; sweeps < 2; sweeps++) {
  // Again after the first: kills leave messages that may be received only once more.
  await redrive();
  for (let more = true; more; ) {
    ({ more } = (await host.invoke('outbox-sweep', { olderThan: -AHEAD_MS })) as { more: boolean });
  }
  while ((await waiting()) > 0) await sleep(100);
}
await host.stop();

async function waiting(): Promise<number> {
  const names = ['', 'NotVisible', 'Delayed'].map((which) => `ApproximateNumberOfMessages${which}` as const);
  let sum = 0;
  for (const QueueUrl of urls) {
    const { Attributes } = await awsClients().sqs.send(
      new GetQueueAttributesCommand({ QueueUrl, AttributeNames: names as never }),
    );
    for (const name of names) sum += Number((Attributes as Record<string, string>)[name]);
  }
  return sum;
}

import { setTimeout as sleep } from 'node:timers/promises';
import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { awsClients } from '../../lib/store/clients.ts';
import { startHost } from '../../local/host.ts';

/** A host that nobody talks to: two sweeps, each until the queue is empty, then an orderly end. */
const host = await startHost({ dataDir: process.argv[2]!, port: 0, host: '127.0.0.1' });
const QueueUrl = process.env['QUEUE_URL_MAINTENANCE']!;
for (let sweeps = 0; sweeps < 2; sweeps++) {
  for (let more = true; more; ) {
    ({ more } = (await host.invoke('outbox-sweep', { olderThan: 0 })) as { more: boolean });
  }
  while ((await waiting()) > 0) await sleep(100);
}
await host.stop();

async function waiting(): Promise<number> {
  const names = ['', 'NotVisible', 'Delayed'].map((which) => `ApproximateNumberOfMessages${which}` as const);
  const { Attributes } = await awsClients().sqs.send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: names as never }),
  );
  return names.reduce((sum, name) => sum + Number((Attributes as Record<string, string>)[name]), 0);
}

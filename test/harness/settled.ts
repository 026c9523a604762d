import { setTimeout as sleep } from 'node:timers/promises';
import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { awsClients } from '../../lib/store/clients.ts';

const PATIENCE_MS = 20_000;

/** Waits until no worker of the running service has anything to do: what was to come has come. */
export async function settled(): Promise<void> {
  const until = Date.now() + PATIENCE_MS;
  // A worker's last act may be a message to another.
  for (let quiet = 0; quiet < 2; ) {
    quiet = (await waiting()) === 0 ? quiet + 1 : 0;
    if (Date.now() > until) throw new Error('workers are still at it');
    await sleep(20);
  }
}

async function waiting(): Promise<number> {
  const names = ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'] as const;
  const urls = Object.entries(process.env).filter(([name]) => name.startsWith('QUEUE_URL_'));
  const counts = await Promise.all(
    urls.map(async ([, QueueUrl]) => {
      const asked = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: [...names] });
      const { Attributes = {} } = await awsClients().sqs.send(asked);
      return names.reduce((sum, name) => sum + Number(Attributes[name]), 0);
    }),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

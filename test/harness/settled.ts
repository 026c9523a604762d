import { setTimeout as sleep } from 'node:timers/promises';
import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { awsClients } from '../../lib/store/clients.ts';

/** A message whose worker failed comes again after half a minute, and a busy machine takes its time for each. */
const PATIENCE_MS = 120_000;

/** Waits until no worker of the running service has anything to do: what was to come has come. */
export async function settled(): Promise<void> {
  const until = Date.now() + PATIENCE_MS;
  // A worker's last act may be a message to another.
  for (let quiet = 0; quiet < 2; ) {
    const busy = await busyQueues();
    quiet = busy.length === 0 ? quiet + 1 : 0;
    if (Date.now() > until) throw new Error(`workers are still at it: ${busy.join(', ')}`);
    await sleep(20);
  }
}

/** The queues that have messages, as the variables that name them. */
async function busyQueues(): Promise<string[]> {
  const names = ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'] as const;
  const queues = Object.entries(process.env).filter(([variable]) => variable.startsWith('QUEUE_URL_'));
  const busy = await Promise.all(
    queues.map(async ([variable, QueueUrl]) => {
      const asked = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: [...names] });
      const { Attributes = {} } = await awsClients().sqs.send(asked);
      return names.some((name) => Number(Attributes[name]) > 0) ? [variable] : [];
    }),
  );
  return busy.flat();
}

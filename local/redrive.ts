import {
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  StartMessageMoveTaskCommand,
} from '@aws-sdk/client-sqs';
import { areasOf } from '../functions/areas.ts';
import { awsClients } from '../lib/store/clients.ts';

/**
 * Moves dead letters back to their queues, as `aws sqs start-message-move-task` does for a deployed instance. Jobs are
 * idempotent.
 * @returns the number of messages moved, by queue; without queues that got none
 */
export async function redrive(): Promise<ReadonlyMap<string, number>> {
  const { sqs } = awsClients();
  const moved = new Map<string, number>();
  for (const { queue } of areasOf('worker')) {
    const { QueueUrl } = await sqs.send(new GetQueueUrlCommand({ QueueName: `${queue}-dead` }));
    const { Attributes } = await sqs.send(
      new GetQueueAttributesCommand({
        QueueUrl,
        AttributeNames: ['QueueArn', 'ApproximateNumberOfMessages'],
      }),
    );
    const count = Number(Attributes?.['ApproximateNumberOfMessages']);
    if (count === 0) continue;
    await sqs.send(new StartMessageMoveTaskCommand({ SourceArn: Attributes?.['QueueArn'] }));
    moved.set(queue, count);
  }
  return moved;
}

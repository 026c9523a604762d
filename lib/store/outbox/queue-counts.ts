/** How many messages are in the queues. A file of its own, as one function alone asks. */
import { GetQueueAttributesCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { awsClients } from '../clients.ts';
import { StoreUnavailable } from '../errors.ts';

/** As SQS estimates them: numbers settle a minute after the last message was sent (SQS API reference, GetQueueAttributes). */
export interface QueueCounts {
  /** Messages that may be received. */
  readonly waiting: number;
  /** Messages that a worker has, or that wait to be received again after it failed. */
  readonly underWay: number;
  /** Messages that were sent for later. */
  readonly delayed: number;
}

const ATTRIBUTES = {
  waiting: 'ApproximateNumberOfMessages',
  underWay: 'ApproximateNumberOfMessagesNotVisible',
  delayed: 'ApproximateNumberOfMessagesDelayed',
} as const;

/** @throws StoreUnavailable */
export async function queueCounts(
  urls: Readonly<Record<string, string>>,
  client: SQSClient = awsClients().sqs,
): Promise<ReadonlyMap<string, QueueCounts>> {
  const counted = Object.entries(urls).map(async ([name, QueueUrl]) => {
    try {
      const { Attributes = {} } = await client.send(
        new GetQueueAttributesCommand({ QueueUrl, AttributeNames: Object.values(ATTRIBUTES) }),
      );
      const count = (kind: keyof QueueCounts) => Number(Attributes[ATTRIBUTES[kind]] ?? 0);
      return [
        name,
        { waiting: count('waiting'), underWay: count('underWay'), delayed: count('delayed') },
      ] as const;
    } catch (error) {
      throw new StoreUnavailable(false, error);
    }
  });
  return new Map(await Promise.all(counted));
}

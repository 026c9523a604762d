import { randomUUID } from 'node:crypto';
import type { Broker, OpenQueue } from './broker.ts';
import { invalidParameter, SqsError } from './errors.ts';

/**
 * StartMessageMoveTask: moves dead letters back to the queue they came from, or to `DestinationArn`, as new messages. Here
 * the task is finished before the answer; a crash meanwhile leaves a message in both queues, never in none.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_StartMessageMoveTask.html
 */
export async function startMessageMoveTask(
  { SourceArn, DestinationArn }: Record<string, unknown>,
  broker: Broker,
): Promise<object> {
  const byArn = (arn: unknown) => broker.queues().find((open) => open.arn === arn);
  const source = byArn(SourceArn);
  if (source === undefined) {
    throw new SqsError(
      'ResourceNotFoundException',
      'The resource that you specified for SourceArn does not exist.',
    );
  }
  if (!broker.queues().some((open) => hasDeadLetterQueue(open, source))) {
    throw invalidParameter('SourceArn', SourceArn, 'Source queue must be configured as a Dead Letter Queue.');
  }
  if (DestinationArn !== undefined && byArn(DestinationArn) === undefined) {
    throw new SqsError(
      'ResourceNotFoundException',
      'The resource that you specified for DestinationArn does not exist.',
    );
  }
  for (const message of [...source.queue.messages]) {
    const target = byArn(DestinationArn ?? message.deadLetterSource);
    // Skip messages that were sent to the dead-letter queue directly, and messages in flight.
    if (target === undefined || source.queue.isInFlight(message)) continue;
    await broker.send(target.name, message.body, message.attributes, 0);
    broker.remove(source, message);
  }
  return { TaskHandle: Buffer.from(`${source.name} ${randomUUID()}`).toString('base64') };
}

const hasDeadLetterQueue = ({ attributes }: OpenQueue, { arn }: OpenQueue): boolean =>
  attributes['RedrivePolicy']?.includes(JSON.stringify(arn)) === true;

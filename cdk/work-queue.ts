import { Duration } from 'aws-cdk-lib';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { WorkerArea } from '../functions/areas.ts';

/** Deliveries of a message; one that a throttled function could not take counts too. AWS advises five at least. */
const MAX_RECEIVES = 10;
/** AWS's advice, so that a throttled function is tried again (Lambda developer guide, "Using Lambda with Amazon SQS"). */
const TIMEOUTS_INVISIBLE = 6;

/** A queue and its worker. Messages that failed for good go to the dead letters of all queues. */
export class WorkQueue extends Construct {
  readonly queue: Queue;

  constructor(scope: Construct, id: string, worker: WorkerArea, deadLetters: Queue) {
    super(scope, id);
    this.queue = new Queue(this, 'Queue', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(4),
      // A worker that reports a message as failed makes it visible sooner: `functions/worker.ts`.
      visibilityTimeout: Duration.seconds(TIMEOUTS_INVISIBLE * worker.timeout),
      deadLetterQueue: { queue: deadLetters, maxReceiveCount: MAX_RECEIVES },
    });
  }

  /** Partial batch responses: only failed messages are redelivered. */
  feed(worker: LambdaFunction, batchSize: number): void {
    worker.addEventSource(
      new SqsEventSource(this.queue, {
        batchSize,
        reportBatchItemFailures: true,
        // No maximumConcurrency: with it the event source never scales down to its idle pollers, whose receives
        // are what an idle queue costs.
      }),
    );
  }
}

/**
 * The messages that failed for good, of all queues: each queue of its own would cost an alarm. A move task without a
 * destination returns each message to the queue it came from (SQS API reference, StartMessageMoveTask).
 */
export function deadLetterQueue(scope: Construct): Queue {
  return new Queue(scope, 'DeadLetters', {
    encryption: QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
    retentionPeriod: Duration.days(14),
  });
}

import { Duration } from 'aws-cdk-lib';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { WorkerArea } from '../functions/areas.ts';

/** A queue with the dead-letter queue its messages end in after five attempts. */
export class WorkQueue extends Construct {
  readonly queue: Queue;
  readonly deadLetters: Queue;

  constructor(scope: Construct, id: string, worker: WorkerArea) {
    super(scope, id);
    this.deadLetters = new Queue(this, 'DeadLetters', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    this.queue = new Queue(this, 'Queue', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(4),
      // A message comes back when this has passed, also one its worker reported as failed: as short as the worker's
      // own time limit allows.
      visibilityTimeout: Duration.seconds(worker.timeout + 60),
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: 5 },
    });
  }

  /** Partial batch answers: a failed message comes back alone. */
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

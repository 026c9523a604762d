import { Duration } from 'aws-cdk-lib';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { WorkerArea } from '../functions/areas.ts';

/** A queue with a dead-letter queue for messages that failed five times. */
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
      // Delay of redelivery, also of messages that the worker reported as failed: as short as the worker's timeout
      // allows.
      visibilityTimeout: Duration.seconds(worker.timeout + 60),
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: 5 },
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

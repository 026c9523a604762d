import { Duration } from 'aws-cdk-lib';
import type { RestApiBase } from 'aws-cdk-lib/aws-apigateway';
import { Alarm, type AlarmProps, ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import type { WorkQueue } from './work-queue.ts';

export interface AlarmsProps {
  readonly api: RestApiBase;
  readonly queues: readonly WorkQueue[];
  readonly scheduled: readonly LambdaFunction[];
  readonly email: string | undefined;
}

const WATCHED_QUEUE = 'Queue-maintenance';

/** Alarms for the operator. Each costs 0.10 $ a month, so there are at most ten. */
export class Alarms extends Construct {
  readonly all: Alarm[] = [];
  #topic: Topic | undefined;

  constructor(scope: Construct, id: string, { api, queues, scheduled, email }: AlarmsProps) {
    super(scope, id);
    if (email !== undefined) {
      this.#topic = new Topic(this, 'Topic', { enforceSSL: true });
      this.#topic.addSubscription(new EmailSubscription(email));
    }
    this.#alarm('ApiErrors', {
      alarmDescription: 'The API answered 5xx to more than 5 requests in 5 minutes: see the functions’ logs',
      metric: api.metricServerError({ period: Duration.minutes(5) }),
      threshold: 5,
    });
    for (const { node, deadLetters } of queues) {
      this.#alarm(`${node.id}DeadLetters`, {
        alarmDescription: 'A message failed five times; it waits 14 days in the dead-letter queue',
        metric: deadLetters.metricApproximateNumberOfMessagesVisible({ period: Duration.minutes(5) }),
        threshold: 0,
      });
    }
    // Users notice delays of the other queues; nobody waits for jobs of this one.
    for (const { node, queue } of queues.filter(({ node }) => node.id === WATCHED_QUEUE)) {
      this.#alarm(`${node.id}Age`, {
        alarmDescription: 'The oldest message is more than an hour old: the worker is failing or throttled',
        metric: queue.metricApproximateAgeOfOldestMessage({ period: Duration.minutes(5) }),
        threshold: 3600,
      });
    }
    for (const function_ of scheduled) {
      this.#alarm(`${function_.node.scope?.node.id ?? function_.node.id}Errors`, {
        alarmDescription: 'A scheduled function failed five times in 15 minutes',
        metric: function_.metricErrors({ period: Duration.minutes(15) }),
        threshold: 5,
      });
    }
  }

  #alarm(id: string, props: Pick<AlarmProps, 'metric' | 'threshold' | 'alarmDescription'>): void {
    const alarm = new Alarm(this, id, {
      ...props,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      evaluationPeriods: 1,
      // An idle instance has no data points: missing data is no failure.
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
    this.all.push(alarm);
    if (this.#topic !== undefined) alarm.addAlarmAction(new SnsAction(this.#topic));
  }
}

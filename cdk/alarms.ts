import { Duration } from 'aws-cdk-lib';
import type { RestApiBase } from 'aws-cdk-lib/aws-apigateway';
import {
  Alarm,
  type AlarmProps,
  ComparisonOperator,
  MathExpression,
  Metric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { FilterPattern, type LogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { type Area, areasOf } from '../functions/areas.ts';
import type { Settings } from './settings.ts';

export interface AlarmsProps {
  readonly settings: Settings;
  readonly api: RestApiBase;
  readonly queues: Readonly<Record<string, Queue>>;
  readonly deadLetters: Queue;
  readonly functionOf: (name: string) => LambdaFunction;
  readonly logGroupOf: (name: string) => LogGroup;
}

const MINUTES = 60;
/** Of the schedules that run more often than that. */
const WINDOW = 15 * MINUTES;
/** No worker takes that long: `test/unit/cdk-alarms.test.ts`. */
const LATE_SECONDS = 60 * MINUTES;
/** Longest answer of a buffered request. A function that may take longer sends its answer in parts. */
const BUFFERED_SECONDS = 29;

/**
 * Lambda's report of a call that ended without its answer: the handler threw, the time was over, or the process ended.
 * (The authorizer throws to refuse; it is not watched.)
 */
const ENDED_EARLY = '{ $.type = "platform.report" && $.record.status != "success" }';

/** Alarms for the operator: at most ten. Each metric of one costs 0.10 $ a month. */
export class Alarms extends Construct {
  readonly all: Alarm[] = [];
  /** Raised when the gateway answers 5xx. */
  readonly apiErrors: Alarm;
  /** Raised when answers end before they are complete, whose status has been sent. */
  readonly answersCut: Alarm;
  #topic: Topic | undefined;

  constructor(scope: Construct, id: string, props: AlarmsProps) {
    super(scope, id);
    const { settings, api, queues, deadLetters } = props;
    if (settings.alarmEmail !== undefined) {
      this.#topic = new Topic(this, 'Topic', { enforceSSL: true });
      this.#topic.addSubscription(new EmailSubscription(settings.alarmEmail));
    }
    this.apiErrors = this.#alarm('ApiErrors', {
      alarmDescription: 'The API answered 5xx to more than 5 requests in 5 minutes: see the functions’ logs',
      metric: api.metricServerError({ period: Duration.minutes(5) }),
      threshold: 5,
    });
    this.answersCut = this.#alarm('AnswersCut', {
      alarmDescription:
        'Three long answers, such as clones, ended early in 15 minutes: see the functions’ logs',
      metric: this.#answersCut(props),
      threshold: 2,
    });
    this.#alarm('Throttles', {
      alarmDescription:
        'Lambda refused more than 10 calls in 5 minutes: the account’s concurrency is used up',
      // Of the account: all its functions share one concurrency.
      metric: new Metric({
        namespace: 'AWS/Lambda',
        metricName: 'Throttles',
        statistic: 'Sum',
        period: Duration.minutes(5),
      }),
      threshold: 10,
    });
    this.#alarm('DeadLetters', {
      alarmDescription: 'A message failed for good; it waits 14 days in the dead-letter queue',
      metric: deadLetters.metricApproximateNumberOfMessagesVisible({ period: Duration.minutes(5) }),
      threshold: 0,
    });
    const ages = Object.fromEntries(
      Object.entries(queues).map(([name, queue]) => [
        name,
        queue.metricApproximateAgeOfOldestMessage({ period: Duration.minutes(5) }),
      ]),
    );
    this.#alarm('QueuesLate', {
      alarmDescription: 'A message is more than an hour old: its worker is failing or throttled',
      metric: new MathExpression({
        expression: `MAX([${Object.keys(ages).join(', ')}])`,
        usingMetrics: ages,
        period: Duration.minutes(5),
        label: 'oldest message, s',
      }),
      threshold: LATE_SECONDS,
    });
    for (const area of areasOf('scheduled')) this.#watchSchedule(area, props.functionOf(area.name));
  }

  /** Lambda counts errors by function only; the lines of all logs make one metric, which an idle month never reports. */
  #answersCut({ settings, logGroupOf }: AlarmsProps): Metric {
    const metric = { metricNamespace: settings.instance, metricName: 'AnswersCut' };
    for (const { name, timeout } of areasOf('api')) {
      if (timeout <= BUFFERED_SECONDS) continue;
      new MetricFilter(this, `Cut-${name}`, {
        ...metric,
        logGroup: logGroupOf(name),
        filterPattern: FilterPattern.literal(ENDED_EARLY),
        metricValue: '1',
      });
    }
    return new Metric({
      namespace: metric.metricNamespace,
      metricName: metric.metricName,
      statistic: 'Sum',
      period: Duration.seconds(WINDOW),
    });
  }

  /** A schedule of minutes fails when a third of its runs in a quarter of an hour do, a daily one when every try does. */
  #watchSchedule(
    { name, schedule, retries }: Extract<Area, { kind: 'scheduled' }>,
    of: LambdaFunction,
  ): void {
    const runs = WINDOW / secondsBetweenRuns(schedule);
    const often = runs >= 3;
    this.#alarm(`${name}Errors`, {
      alarmDescription: often
        ? `${name} failed ${Math.floor(runs / 3)} times in 15 minutes`
        : `${name} failed, and so did each retry`,
      // Retries come within minutes, so an hour holds them all.
      metric: of.metricErrors({ period: Duration.seconds(often ? WINDOW : 60 * MINUTES) }),
      threshold: often ? Math.floor(runs / 3) - 1 : retries,
    });
  }

  #alarm(id: string, props: Pick<AlarmProps, 'metric' | 'threshold' | 'alarmDescription'>): Alarm {
    const alarm = new Alarm(this, id, {
      ...props,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      evaluationPeriods: 1,
      // An idle instance has no data points: missing data is no failure.
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
    this.all.push(alarm);
    if (this.#topic !== undefined) alarm.addAlarmAction(new SnsAction(this.#topic));
    return alarm;
  }
}

/** @throws RangeError for a schedule that is neither a rate nor daily */
export function secondsBetweenRuns(schedule: string): number {
  const [, count, unit] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(schedule) ?? [];
  if (count !== undefined && unit !== undefined)
    return Number(count) * { minute: 60, hour: 3600, day: 86_400 }[unit]!;
  if (/^cron\(\d+ \d+ \* \* \? \*\)$/.test(schedule)) return 86_400;
  throw new RangeError(`${schedule}: neither a rate nor daily`);
}

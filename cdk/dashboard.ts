import { Duration, Stack } from 'aws-cdk-lib';
import type { RestApiBase } from 'aws-cdk-lib/aws-apigateway';
import {
  type Alarm,
  AlarmStatusWidget,
  Dashboard as CloudWatchDashboard,
  GraphWidget,
  type IMetric,
  LogQueryVisualizationType,
  LogQueryWidget,
  MathExpression,
  Metric,
  PeriodOverride,
  TextWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { Resources } from './resources.ts';
import type { Settings } from './settings.ts';

export interface DashboardProps {
  readonly settings: Settings;
  readonly api: RestApiBase;
  readonly deadLetters: Queue;
  readonly resources: Resources;
  readonly sweep: LambdaFunction;
  readonly alarms: readonly Alarm[];
  /** Log groups of the API functions, and of the workers. */
  readonly requestLogs: readonly LogGroup[];
  readonly workerLogs: readonly LogGroup[];
}

/** Maximum number of log groups in one query. */
const QUERIED_GROUPS = 50;

/**
 * The operator's dashboard: alarms, requests, background jobs, the table, and cost drivers. AWS provides requests,
 * errors and durations of functions and queues; routes and jobs are queried from the service's log lines, which costs
 * only while the dashboard is viewed. If endpoints and jobs have metrics of their own (`endpointMetrics`), the top ones
 * are also drawn over time.
 */
export class Dashboard extends Construct {
  constructor(scope: Construct, id: string, props: DashboardProps) {
    super(scope, id);
    const dashboard = new CloudWatchDashboard(this, 'Dashboard', {
      dashboardName: `${props.settings.instance}-${Stack.of(this).region}`,
      defaultInterval: Duration.hours(3),
      periodOverride: PeriodOverride.AUTO,
    });
    const { settings, api, deadLetters, resources, alarms } = props;
    dashboard.addWidgets(
      new AlarmStatusWidget({ title: 'Alarms', alarms: [...alarms], width: 16, height: 4 }),
      new TextWidget({
        width: 8,
        height: 4,
        markdown:
          '**Where to look** `docs/operations.md` says what each alarm means and what to do. One request: ' +
          'Logs Insights over all groups, `filter requestId = "..."`; its id is in the answer’s `X-Request-Id`.',
      }),
    );
    dashboard.addWidgets(
      graph('Requests', [
        api.metricCount({ label: 'requests' }),
        api.metricClientError({ label: '4xx' }),
        api.metricServerError({ label: '5xx' }),
      ]),
      graph('Latency, ms', [
        api.metricLatency({ statistic: 'p50', label: 'p50' }),
        api.metricLatency({ statistic: 'p95', label: 'p95' }),
        api.metricLatency({ statistic: 'p99', label: 'p99' }),
      ]),
      graph('Functions of this account and region', [
        lambda('Errors'),
        lambda('Throttles'),
        lambda('ConcurrentExecutions', 'Maximum'),
      ]),
    );
    const requests = queried(props.requestLogs);
    dashboard.addWidgets(
      table('By area', requests, [
        'filter message = "request"',
        'stats count(*) as requests, count(ServerErrors) as failed, count(RateLimited) as limited, pct(ms, 50) as p50, pct(ms, 95) as p95, max(ms) as slowest, count(cold_start) as coldStarts by area',
        'sort requests desc',
      ]),
      table('By route', requests, [
        'filter message = "request"',
        'stats count(*) as requests, count(ServerErrors) as failed, pct(ms, 50) as p50, pct(ms, 95) as p95 by method, route',
        'sort requests desc',
        'limit 30',
      ]),
    );
    if (settings.endpointMetrics) {
      dashboard.addWidgets(
        graph('Busiest endpoints', [leading(settings, 'endpoint', 'Latency', 'SampleCount')]),
        graph('Slowest endpoints, p95 in ms', [leading(settings, 'endpoint', 'Latency', 'p95')]),
        graph('Slowest jobs, p95 in ms', [leading(settings, 'job', 'Latency', 'p95')]),
      );
    }
    dashboard.addWidgets(
      table(
        'What went wrong',
        queried([...props.workerLogs, ...props.requestLogs]),
        [
          'fields @timestamp, area, requestId, message, route, path, job, error.name, error.message, error',
          'filter level = "ERROR"',
          'sort @timestamp desc',
          'limit 50',
        ],
        24,
      ),
    );
    const waiting = Object.entries(resources.queues).map(([label, queue]) =>
      queue.metricApproximateAgeOfOldestMessage({ label }),
    );
    dashboard.addWidgets(
      graph('Seconds that the oldest message waits', waiting),
      graph('Dead letters', [deadLetters.metricApproximateNumberOfMessagesVisible({ label: 'messages' })]),
      graph('Sent by the sweep: fallen due, or left behind', [
        own(settings, 'MessagesSwept', 'outbox-sweep'),
        props.sweep.metricErrors({ label: 'sweeps that failed' }),
      ]),
    );
    dashboard.addWidgets(
      table(
        'By job',
        queried(props.workerLogs),
        [
          'filter message = "job"',
          'stats count(*) as jobs, count(JobsFailed) as failed, pct(ms, 50) as p50, pct(ms, 95) as p95, max(age) as oldest by area, job',
          'sort jobs desc',
        ],
        resources.mailFrom === undefined ? 24 : 16,
      ),
      // Per account: SES has no finer metrics.
      ...(resources.mailFrom === undefined
        ? []
        : [graph('Mail', [ses('Send'), ses('Bounce'), ses('Complaint')])]),
    );
    const { table: rows, objects } = resources;
    dashboard.addWidgets(
      graph('Table: units a minute', [
        rows.metricConsumedReadCapacityUnits({ label: 'read', period: Duration.minutes(1) }),
        rows.metricConsumedWriteCapacityUnits({ label: 'written', period: Duration.minutes(1) }),
      ]),
      graph('Table: turned away', [
        dynamo(rows.tableName, 'ReadThrottleEvents'),
        dynamo(rows.tableName, 'WriteThrottleEvents'),
        dynamo(rows.tableName, 'TransactionConflict'),
      ]),
      graph('Bucket: bytes', [
        new Metric({
          namespace: 'AWS/S3',
          metricName: 'BucketSizeBytes',
          dimensionsMap: { BucketName: objects.bucketName, StorageType: 'StandardStorage' },
          period: Duration.days(1),
          label: 'stored',
        }),
      ]),
    );
    // Requests and units above are the rest of the bill.
    dashboard.addWidgets(
      graph('What costs: function time, ms', [lambda('Duration', 'Sum')], 12),
      graph(
        'What costs: bytes of logs',
        [new Metric({ namespace: 'AWS/Logs', metricName: 'IncomingBytes', statistic: 'Sum' })],
        12,
      ),
    );
  }
}

const graph = (title: string, left: IMetric[], width = 8) =>
  new GraphWidget({ title, left, width, height: 6, leftYAxis: { min: 0 } });

const table = (title: string, logGroupNames: string[], queryLines: string[], width = 12) =>
  new LogQueryWidget({
    title,
    logGroupNames,
    queryLines,
    view: LogQueryVisualizationType.TABLE,
    width,
    height: 8,
  });

const queried = (groups: readonly LogGroup[]): string[] =>
  groups.slice(0, QUERIED_GROUPS).map(({ logGroupName }) => logGroupName);

const lambda = (metricName: string, statistic = 'Sum') =>
  new Metric({ namespace: 'AWS/Lambda', metricName, statistic, label: metricName });

const ses = (metricName: string) =>
  new Metric({ namespace: 'AWS/SES', metricName, statistic: 'Sum', label: metricName });

const dynamo = (TableName: string, metricName: string) =>
  new Metric({
    namespace: 'AWS/DynamoDB',
    metricName,
    dimensionsMap: { TableName },
    statistic: 'Sum',
    label: metricName,
  });

/** Metrics that `lib/telemetry/metrics.ts` counts by area. */
const own = ({ instance, serviceName }: Settings, metricName: string, area: string) =>
  new Metric({
    namespace: instance,
    metricName,
    dimensionsMap: { service: serviceName, area },
    statistic: 'Sum',
    label: metricName,
  });

/** Limited by the readability of a graph and by the free dashboard. */
const LEADING = 5;

/** The top endpoints or job types by the metric; CloudWatch finds them when the dashboard is viewed. */
const leading = ({ instance }: Settings, by: 'endpoint' | 'job', metricName: string, statistic: string) => {
  const schema = `{"${instance}",service,area,${by}}`;
  const found = `SEARCH('${schema} MetricName="${metricName}"', '${statistic}', 300)`;
  return new MathExpression({
    expression: `SLICE(SORT(${found}, MAX, DESC), 0, ${LEADING})`,
    // CloudWatch's placeholder for the label of each line.
    label: `\${PROP('Dim.${by}')}`,
    usingMetrics: {},
  });
};

import { PRICE } from './prices.ts';

/** The cost of an idle instance per month, computed from its templates. */
export interface CostItem {
  readonly what: string;
  readonly dollars: number;
}

export interface Template {
  readonly Resources: Readonly<
    Record<string, { Type: string; Properties?: Readonly<Record<string, unknown>> }>
  >;
}

const SECONDS_PER_MONTH = 30 * 24 * 3600;

/** Assumed data and activity of an idle instance; the rest is in the template. */
const ASSUMED = {
  tableGb: 0.1,
  objectsGb: 2,
  /** Lambda keeps five pollers on an idle queue, each waiting 20 s for messages (AWS Lambda developer guide, SQS). */
  pollers: 5,
  pollSeconds: 20,
  /** Per run of a scheduled function that finds nothing to do. */
  runSeconds: 0.2,
  runReadUnits: 32,
  runLogBytes: 600,
} as const;

/** Types that are free while idle. A type that is neither here nor priced below is an error. */
const FREE = new Set([
  'AWS::ApiGateway::Account',
  'AWS::ApiGateway::BasePathMapping',
  'AWS::ApiGateway::Deployment',
  'AWS::ApiGateway::DomainName',
  'AWS::ApiGateway::RestApi',
  'AWS::ApiGateway::Stage',
  'AWS::CDK::Metadata',
  // Deployments to Lambda cost nothing (https://aws.amazon.com/codedeploy/pricing).
  'AWS::CodeDeploy::Application',
  'AWS::CodeDeploy::DeploymentGroup',
  'AWS::IAM::Policy',
  'AWS::IAM::Role',
  'AWS::Lambda::Alias',
  'AWS::Lambda::EventInvokeConfig',
  'AWS::Lambda::Function',
  'AWS::Lambda::Permission',
  'AWS::Lambda::Version',
  'AWS::Logs::LogGroup',
  // Its metric is charged for the hours in which a line matched.
  'AWS::Logs::MetricFilter',
  'AWS::S3::BucketPolicy',
  'AWS::SNS::Subscription',
  'AWS::SNS::Topic',
  'AWS::SNS::TopicPolicy',
  'AWS::SQS::Queue',
  'AWS::SQS::QueuePolicy',
  'AWS::WAFv2::WebACLAssociation',
]);

/** @throws RangeError for a resource type without a known idle cost */
export function idleCost(templates: readonly Template[]): CostItem[] {
  const resources = templates.flatMap((template) => Object.entries(template.Resources));
  const lambdas = new Map(resources.filter(([, { Type }]) => Type === 'AWS::Lambda::Function'));
  return resources.flatMap(([id, { Type, Properties = {} }]): CostItem[] => {
    const item = (dollars: number): CostItem[] => [{ what: `${Type} ${id}`, dollars }];
    if (FREE.has(Type)) return [];
    switch (Type) {
      case 'AWS::CloudWatch::Alarm':
        return item(alarmMetrics(Properties['Metrics']) * PRICE.alarm);
      case 'AWS::CloudWatch::Dashboard':
        return item(
          metricsOf(Properties['DashboardBody']) > PRICE.dashboardFreeMetrics ? PRICE.dashboard : 0,
        );
      case 'AWS::DynamoDB::Table':
        return item(ASSUMED.tableGb * (PRICE.tablePerGb + PRICE.recoveryPerGb));
      case 'AWS::S3::Bucket':
        return item(ASSUMED.objectsGb * PRICE.objectsPerGb);
      case 'AWS::WAFv2::WebACL':
        return item(PRICE.webAcl + (Properties['Rules'] as unknown[]).length * PRICE.webAclRule);
      case 'AWS::Lambda::EventSourceMapping': {
        const receives = ASSUMED.pollers * (SECONDS_PER_MONTH / ASSUMED.pollSeconds);
        return item(receives * PRICE.queueRequests);
      }
      case 'AWS::Events::Rule': {
        const target = (Properties['Targets'] as { Arn: { 'Fn::GetAtt': [string, string] } }[])[0]!;
        const memory = Number(lambdas.get(target.Arn['Fn::GetAtt'][0])?.Properties?.['MemorySize'] ?? 128);
        return item(runsPerMonth(String(Properties['ScheduleExpression'])) * costOfRun(memory));
      }
      default:
        throw new RangeError(`${Type} (${id}): unknown cost of an idle month`);
    }
  });
}

/** An alarm over an expression costs as much as one over each of its metrics. */
function alarmMetrics(metrics: unknown): number {
  if (metrics === undefined) return 1;
  return (metrics as { MetricStat?: object }[]).filter(({ MetricStat }) => MetricStat !== undefined).length;
}

/** Number of metrics of a dashboard. Log queries are not metrics; they are paid when the dashboard is viewed. */
export function metricsOf(body: unknown): number {
  const text = typeof body === 'string' ? body : joined(body);
  const { widgets } = JSON.parse(text) as { widgets: { properties: { metrics?: unknown[][] } }[] };
  return widgets
    .flatMap(({ properties }) => properties.metrics ?? [])
    .reduce((sum, row) => sum + linesOf(row), 0);
}

/** A search counts as the maximum number of metrics it shows. */
function linesOf(row: readonly unknown[]): number {
  const { expression } = (row.at(-1) ?? {}) as { expression?: string };
  if (expression === undefined) return 1;
  const [, most] = /^SLICE\(.*, 0, (\d+)\)$/.exec(expression) ?? [];
  if (most === undefined) throw new RangeError(`unknown number of metrics: ${expression}`);
  return Number(most);
}

/** The result of `Fn::Join`, with a placeholder for values known only at deployment. */
function joined(value: unknown): string {
  const [separator, parts] = (value as { 'Fn::Join': [string, unknown[]] })['Fn::Join'];
  return parts.map((part) => (typeof part === 'string' ? part : 'deployed')).join(separator);
}

/** The schedule itself is free; a run costs an invocation, its duration, its reads and its log lines. */
function costOfRun(memory: number): number {
  return (
    PRICE.invocation +
    ASSUMED.runSeconds * (memory / 1024) * PRICE.gbSecond +
    ASSUMED.runReadUnits * PRICE.readUnit +
    (ASSUMED.runLogBytes / 1e9) * PRICE.logsPerGb
  );
}

function runsPerMonth(expression: string): number {
  const [, count, unit] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(expression) ?? [];
  // All our cron expressions are daily.
  if (count === undefined || unit === undefined) return 30;
  const seconds = { minute: 60, hour: 3600, day: 86_400 }[unit]!;
  return SECONDS_PER_MONTH / (Number(count) * seconds);
}

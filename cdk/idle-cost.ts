import { PRICE } from './prices.ts';

/** What an instance costs in a month in which nobody uses it, counted from its templates. */
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

/** What an idle instance is taken to hold and do; the rest is in the template. */
const ASSUMED = {
  tableGb: 0.1,
  objectsGb: 2,
  /** Lambda keeps five pollers on an idle queue, each waiting 20 s for messages (AWS Lambda developer guide, SQS). */
  pollers: 5,
  pollSeconds: 20,
  /** Per run of a scheduled function: one that finds nothing to do. */
  runSeconds: 0.2,
  runReadUnits: 32,
  runLogBytes: 600,
} as const;

/** Free while idle: they cost by use, or nothing. A type that is not here and not priced below is an error. */
const FREE = new Set([
  'AWS::ApiGateway::Account',
  'AWS::ApiGateway::Deployment',
  'AWS::ApiGateway::RestApi',
  'AWS::ApiGateway::Stage',
  'AWS::CDK::Metadata',
  'AWS::IAM::Policy',
  'AWS::IAM::Role',
  'AWS::Lambda::Function',
  'AWS::Lambda::Permission',
  'AWS::Logs::LogGroup',
  'AWS::S3::BucketPolicy',
  'AWS::SNS::Subscription',
  'AWS::SNS::Topic',
  'AWS::SNS::TopicPolicy',
  'AWS::SQS::Queue',
  'AWS::SQS::QueuePolicy',
]);

/** @throws RangeError for a resource whose idle cost nobody has looked up. */
export function idleCost(templates: readonly Template[]): CostItem[] {
  const resources = templates.flatMap((template) => Object.entries(template.Resources));
  const lambdas = new Map(resources.filter(([, { Type }]) => Type === 'AWS::Lambda::Function'));
  return resources.flatMap(([id, { Type, Properties = {} }]): CostItem[] => {
    const item = (dollars: number): CostItem[] => [{ what: `${Type} ${id}`, dollars }];
    if (FREE.has(Type)) return [];
    switch (Type) {
      case 'AWS::CloudWatch::Alarm':
        return item(PRICE.alarm);
      case 'AWS::CloudWatch::Dashboard':
        return item(
          metricsOf(Properties['DashboardBody']) > PRICE.dashboardFreeMetrics ? PRICE.dashboard : 0,
        );
      case 'AWS::DynamoDB::Table':
        return item(ASSUMED.tableGb * (PRICE.tablePerGb + PRICE.recoveryPerGb));
      case 'AWS::S3::Bucket':
        return item(ASSUMED.objectsGb * PRICE.objectsPerGb);
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
        throw new RangeError(`${Type} (${id}): what does it cost in an idle month?`);
    }
  });
}

/** Metrics that a dashboard names; what it asks of logs is none, and is paid for when somebody looks. */
export function metricsOf(body: unknown): number {
  const text = typeof body === 'string' ? body : joined(body);
  const { widgets } = JSON.parse(text) as { widgets: { properties: { metrics?: unknown[][] } }[] };
  return widgets
    .flatMap(({ properties }) => properties.metrics ?? [])
    .reduce((sum, row) => sum + linesOf(row), 0);
}

/** A search is as many metrics as it shows at most. */
function linesOf(row: readonly unknown[]): number {
  const { expression } = (row.at(-1) ?? {}) as { expression?: string };
  if (expression === undefined) return 1;
  const [, most] = /^SLICE\(.*, 0, (\d+)\)$/.exec(expression) ?? [];
  if (most === undefined) throw new RangeError(`how many metrics does this show? ${expression}`);
  return Number(most);
}

/** The text that `Fn::Join` makes, with a word for whatever is only known when it is deployed. */
function joined(value: unknown): string {
  const [separator, parts] = (value as { 'Fn::Join': [string, unknown[]] })['Fn::Join'];
  return parts.map((part) => (typeof part === 'string' ? part : 'deployed')).join(separator);
}

/** The schedule itself is free; each run is an invocation, its time, its reads and its log lines. */
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
  // A cron expression of ours names a time of the day.
  if (count === undefined || unit === undefined) return 30;
  const seconds = { minute: 60, hour: 3600, day: 86_400 }[unit]!;
  return SECONDS_PER_MONTH / (Number(count) * seconds);
}

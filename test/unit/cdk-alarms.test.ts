import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { beforeAll, describe, expect, test } from 'vitest';
import { secondsBetweenRuns } from '../../cdk/alarms.ts';
import { instance } from '../../cdk/app.ts';
import { idleCost } from '../../cdk/idle-cost.ts';
import cdkJson from '../../cdk.json' with { type: 'json' };
import { areas, areasOf } from '../../functions/areas.ts';

interface Metric {
  readonly MetricName: string;
  readonly Dimensions?: readonly { readonly Value: unknown }[];
}

interface Alarm extends Partial<Metric> {
  readonly Period: number;
  readonly EvaluationPeriods: number;
  readonly Threshold: number;
  readonly Statistic: string;
  readonly ComparisonOperator: string;
  readonly Metrics?: readonly {
    readonly MetricStat?: { readonly Metric: Metric; readonly Period: number };
  }[];
}

interface Resource {
  readonly Type: string;
  // biome-ignore lint/suspicious/noExplicitAny: a template is whatever CloudFormation takes
  readonly Properties: any;
}

let resources: [string, Resource][];
beforeAll(() => {
  const app = new App({ context: cdkJson.context, analyticsReporting: false });
  const { service } = instance(app, () => Code.fromInline('exports.handler = async () => {};'));
  resources = Object.entries(Template.fromStack(service).toJSON()['Resources']);
});

const ofType = (type: string) => resources.filter(([, { Type }]) => Type === type);
const alarms = (): Alarm[] => ofType('AWS::CloudWatch::Alarm').map(([, { Properties }]) => Properties);

/** The metrics that an alarm looks at. */
const metricsOf = (alarm: Alarm): Metric[] =>
  alarm.Metrics?.flatMap(({ MetricStat }) => MetricStat?.Metric ?? []) ?? [alarm as Metric];
const about = (alarm: Alarm, id: string) => JSON.stringify(metricsOf(alarm)).includes(`"${id}"`);
const idOf = (area: string) =>
  ofType('AWS::Lambda::Function').find(([, { Properties }]) =>
    Properties.Description.endsWith(` ${area}`),
  )![0];

describe('every alarm', () => {
  test('looks at no more than CloudWatch keeps for it, and treats silence as calm', () => {
    for (const alarm of alarms()) {
      const periods = alarm.Metrics?.flatMap(({ MetricStat }) => MetricStat?.Period ?? []) ?? [alarm.Period];
      for (const period of periods) {
        // "Period multiplied by evaluation periods" is a day at most, seven days from an hour on (CloudWatch user guide,
        // "Alarm evaluation").
        expect(period * alarm.EvaluationPeriods).toBeLessThanOrEqual(period < 3600 ? 86_400 : 604_800);
      }
      expect(alarm).toMatchObject({
        ComparisonOperator: 'GreaterThanThreshold',
        TreatMissingData: 'notBreaching',
      });
    }
  });
});

describe.each(areasOf('scheduled'))('a schedule: $name', ({ name, schedule, retries, timeout }) => {
  const alarm = () => alarms().find((each) => each.MetricName === 'Errors' && about(each, idOf(name)))!;
  const runs = () => Math.max(1, Math.floor(alarm().Period / secondsBetweenRuns(schedule)));

  test('its alarm fires when every run fails', () => {
    expect(alarm().Statistic).toBe('Sum');
    expect(alarm().Threshold).toBeLessThan(runs() * (1 + retries));
  });

  test('its alarm is silent when a retry or the next run succeeds', () => {
    expect(alarm().Threshold).toBeGreaterThanOrEqual(Math.max(retries, runs() > 1 ? 1 : 0));
    // Lambda waits a minute before the first retry and two before the second.
    expect(alarm().Period).toBeGreaterThanOrEqual(retries * (120 + timeout));
  });

  test('the function has the retries; delivery to it is another matter', () => {
    const [, config] = ofType('AWS::Lambda::EventInvokeConfig').find(
      ([, { Properties }]) => Properties.FunctionName.Ref === idOf(name),
    )!;
    expect(config.Properties.MaximumRetryAttempts).toBe(retries);
  });
});

describe('queues', () => {
  test('a message that waits too long raises an alarm, whichever queue it is in', () => {
    const late = alarms().find(
      (alarm) => metricsOf(alarm)[0]?.MetricName === 'ApproximateAgeOfOldestMessage',
    )!;
    const queues = ofType('AWS::SQS::Queue').filter(([, { Properties }]) => Properties.RedrivePolicy);
    expect(queues).toHaveLength(areasOf('worker').length);
    for (const [id] of queues) expect(about(late, id), id).toBe(true);
    // Not while a worker is on it.
    for (const { timeout } of areasOf('worker')) expect(late.Threshold).toBeGreaterThan(timeout);
  });

  test('the first dead letter raises an alarm', () => {
    const [[id]] = ofType('AWS::SQS::Queue').filter(([, { Properties }]) => !Properties.RedrivePolicy) as [
      [string, Resource],
    ];
    const alarm = alarms().find((each) => about(each, id))!;
    expect(alarm.Threshold).toBe(0);
    for (const [, { Properties }] of ofType('AWS::SQS::Queue')) {
      if (Properties.RedrivePolicy)
        expect(Properties.RedrivePolicy.deadLetterTargetArn).toEqual({ 'Fn::GetAtt': [id, 'Arn'] });
    }
  });
});

test('every function whose answers may be long is watched for answers that end early', () => {
  const filters = ofType('AWS::Logs::MetricFilter').map(([, { Properties }]) => Properties);
  const long = areas.filter(({ kind, timeout }) => kind === 'api' && timeout > 29);
  expect(long.length).toBeGreaterThan(0);
  for (const { name } of long) {
    const [, { Properties }] = resources.find(([id]) => id === idOf(name))!;
    const filter = filters.find(
      ({ LogGroupName }) => LogGroupName.Ref === Properties.LoggingConfig.LogGroup.Ref,
    );
    expect(filter.FilterPattern).toBe('{ $.type = "platform.report" && $.record.status != "success" }');
    // Of which Lambda writes only those that fail.
    expect(Properties.LoggingConfig).toMatchObject({ LogFormat: 'JSON', SystemLogLevel: 'WARN' });
    expect(filter.MetricTransformations).toEqual([
      { MetricName: 'AnswersCut', MetricNamespace: 'Lemnos', MetricValue: '1' },
    ]);
  }
  expect(alarms().filter(({ MetricName }) => MetricName === 'AnswersCut')).toHaveLength(1);
});

test('calls that Lambda refuses raise an alarm', () => {
  const throttles = alarms().filter(({ MetricName }) => MetricName === 'Throttles');
  expect(throttles.map(({ Dimensions }) => Dimensions)).toEqual([undefined]);
});

test('an alarm over an expression costs as much as one over each of its metrics', () => {
  const [[id, late]] = ofType('AWS::CloudWatch::Alarm').filter(
    ([, { Properties }]) => Properties.Metrics,
  ) as [[string, Resource]];
  const [item] = idleCost([{ Resources: { [id]: late } }]);
  expect(item!.dollars).toBeCloseTo(0.1 * areasOf('worker').length);
});

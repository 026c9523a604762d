import { Annotations, CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as LambdaTarget } from 'aws-cdk-lib/aws-events-targets';
import type { Alias, CfnAlias, CfnFunction, Code, Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { type Area, areas, areasOf, type QueueName, type WorkerArea } from '../functions/areas.ts';
import { AddressLimit } from './address-limit.ts';
import { Alarms } from './alarms.ts';
import { Dashboard } from './dashboard.ts';
import type { DataStack } from './data-stack.ts';
import { Gateway } from './gateway.ts';
import type { Resources } from './resources.ts';
import { ServiceFunction } from './service-function.ts';
import type { Settings } from './settings.ts';
import { TrafficShift } from './traffic-shift.ts';
import { deadLetterQueue, WorkQueue } from './work-queue.ts';

export interface ServiceStackProps {
  readonly data: DataStack;
  readonly settings: Settings;
  /** The code of an area's function. */
  readonly code: (area: Area) => Code;
}

/** Everything without persistent data, which can be deleted and redeployed: gateway, functions, queues, alarms. */
export class ServiceStack extends Stack {
  readonly gateway: Gateway;
  readonly functions: ReadonlyMap<string, ServiceFunction>;
  readonly resources: Resources;

  constructor(scope: Construct, id: string, { data, settings, code }: ServiceStackProps) {
    super(scope, id, { description: 'Lemnos: source hosting without servers (service)' });
    const deadLetters = deadLetterQueue(this);
    const queues = byQueue((worker) => new WorkQueue(this, `Queue-${worker.queue}`, worker, deadLetters));
    const resources: Resources = (this.resources = {
      table: data.table,
      indexes: data.indexes,
      objects: data.objects,
      storages: data.storages,
      queues: byQueue((worker) => queues[worker.queue].queue),
      deadLetters,
      mailFrom: settings.mailFrom,
      masterKeyParameter: `/${settings.instance.toLowerCase()}/master-key`,
    });
    this.functions = new Map(
      areas.map((area) => [
        area.name,
        new ServiceFunction(this, area.name, { area, code: code(area), resources, settings }),
      ]),
    );
    const named = (name: string): ServiceFunction => {
      const found = this.functions.get(name);
      if (found === undefined) throw new Error(`The manifest names no function ${name}`);
      return found;
    };
    const functionOf = (name: string): LambdaFunction => named(name).function;

    for (const worker of areasOf('worker')) {
      queues[worker.queue].feed(functionOf(worker.name), worker.batchSize);
    }
    for (const area of areasOf('scheduled')) {
      new Rule(this, `Schedule-${area.name}`, {
        schedule: Schedule.expression(area.schedule),
        // Of the delivery to Lambda's own queue. What happens to a run that fails is the function's setting, below.
        targets: [
          new LambdaTarget(functionOf(area.name), { retryAttempts: 0, maxEventAge: Duration.minutes(1) }),
        ],
      });
      functionOf(area.name).configureAsyncInvoke({
        retryAttempts: area.retries,
        // A run without retries is not worth waiting for either: the next one catches up.
        maxEventAge: area.retries === 0 ? Duration.minutes(1) : Duration.hours(1),
      });
    }
    this.gateway = new Gateway(this, 'Gateway', { settings, functionOf: (name) => named(name).called });
    // What is sent at noon has no request to learn the address from.
    if (settings.baseUrl === undefined)
      functionOf('daily').addEnvironment('BASE_URL', this.gateway.api.urlForPath('/'));
    const alarms = new Alarms(this, 'Alarms', {
      settings,
      api: this.gateway.api,
      queues: resources.queues,
      deadLetters,
      functionOf,
      logGroupOf: (name) => named(name).logGroup,
    });
    this.#release(settings, alarms);
    if (settings.wafRateLimit !== undefined) {
      new AddressLimit(this, 'AddressLimit', {
        instance: settings.instance,
        requests: settings.wafRateLimit,
        stageArn: this.gateway.api.deploymentStage.stageArn,
      });
    }
    if (settings.dashboard) {
      const logsOf = (kinds: readonly Area['kind'][]) =>
        areas.filter(({ kind }) => kinds.includes(kind)).map(({ name }) => named(name).logGroup);
      new Dashboard(this, 'Dashboard', {
        settings,
        api: this.gateway.api,
        deadLetters,
        resources,
        sweep: functionOf('outbox-sweep'),
        alarms: alarms.all,
        requestLogs: logsOf(['api', 'authorizer']),
        workerLogs: logsOf(['worker', 'scheduled', 'command']),
      });
    }
    if (settings.outboundAllow !== undefined) {
      Annotations.of(this).addWarningV2(
        'lemnos:outboundAllow',
        'outboundAllow lifts a check, and connects nothing: functions are in no VPC, so private addresses stay out of reach',
      );
    }
    this.#outputs(settings, functionOf);
  }

  /** How calls move to new versions: after every worker is new, because only a new one knows all messages of a new version. */
  #release({ shiftMinutes }: Settings, { apiErrors, answersCut }: Alarms): void {
    const all = [...this.functions.values()];
    const aliases = all.flatMap(({ live }): Alias[] => (live === undefined ? [] : [live]));
    for (const { name } of areasOf('worker')) {
      const worker = this.functions.get(name)!.function.node.defaultChild as CfnFunction;
      for (const alias of aliases) (alias.node.defaultChild as CfnAlias).addResourceDependency(worker);
    }
    if (shiftMinutes === 0) return;
    new TrafficShift(this, 'Shift', { minutes: shiftMinutes, aliases, alarms: [apiErrors, answersCut] });
  }

  #outputs(settings: Settings, functionOf: (name: string) => LambdaFunction): void {
    new CfnOutput(this, 'Url', {
      description: 'Base URL of the API and of Git',
      // Without its trailing slash: paths are appended to it.
      value: settings.baseUrl ?? this.gateway.api.urlForPath('/').replace(/\/$/, ''),
    });
    for (const area of areasOf('command')) {
      const { functionName } = functionOf(area.name);
      const name = area.name.replace(/(^|-)(.)/g, (_match, _dash, letter: string) => letter.toUpperCase());
      new CfnOutput(this, `${name}Function`, { value: functionName });
      new CfnOutput(this, `${name}Command`, {
        description: `Runs ${area.name}; needs the right to invoke the function`,
        value: [
          `aws lambda invoke --function-name ${functionName}`,
          '--cli-binary-format raw-in-base64-out',
          `--payload '{}'`,
          '/dev/stdout',
        ].join(' '),
      });
    }
  }
}

/** One value per queue of the manifest; every queue has exactly one worker. */
function byQueue<T>(make: (worker: WorkerArea) => T): Record<QueueName, T> {
  return Object.fromEntries(areasOf('worker').map((worker) => [worker.queue, make(worker)])) as Record<
    QueueName,
    T
  >;
}

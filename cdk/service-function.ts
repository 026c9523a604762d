import { Duration, RemovalPolicy, Size } from 'aws-cdk-lib';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  Alias,
  ApplicationLogLevel,
  Architecture,
  type Code,
  type IFunction,
  type IVersion,
  Function as LambdaFunction,
  LoggingFormat,
  RecursiveLoop,
  Runtime,
  SystemLogLevel,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Area } from '../functions/areas.ts';
import { MALLOC } from '../lib/store/malloc.ts';
import { grantRights } from './grants.ts';
import type { Resources } from './resources.ts';
import type { Settings } from './settings.ts';

export interface ServiceFunctionProps {
  readonly area: Area;
  readonly code: Code;
  readonly resources: Resources;
  readonly settings: Settings;
}

/** The kinds of areas that the gateway calls. */
const CALLED: readonly Area['kind'][] = ['api', 'authorizer'];

/**
 * A Lambda function of this service. Runtime, logging, environment and rights follow the same rules for all functions
 * and are set here; the rest comes from the manifest.
 */
export class ServiceFunction extends Construct {
  readonly function: LambdaFunction;
  readonly logGroup: LogGroup;
  /**
   * What the gateway calls: an alias of the version that was published last. So that traffic can move to a new version at
   * another time than it is published, and back. Workers and schedules run the function's latest code.
   */
  readonly live: Alias | undefined;

  constructor(scope: Construct, id: string, { area, code, resources, settings }: ServiceFunctionProps) {
    super(scope, id);
    this.logGroup = new LogGroup(this, 'Logs', {
      retention: RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    // A role without AWS's managed policies: it has only the rights granted below.
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      description: `Lemnos function ${area.name}`,
    });
    this.logGroup.grantWrite(role);
    grantRights(role, area.rights, resources);
    this.function = new LambdaFunction(this, 'Function', {
      description: `Lemnos ${area.kind} ${area.name}`,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      handler: 'index.handler',
      code,
      role,
      memorySize: area.memory,
      timeout: Duration.seconds(area.timeout),
      ...reserved(settings, area.name),
      ...(area.scratch === undefined ? {} : { ephemeralStorageSize: Size.mebibytes(area.scratch) }),
      logGroup: this.logGroup,
      loggingFormat: LoggingFormat.JSON,
      // Only calls that fail: of each other one Lambda would write two lines, as long as the service's own.
      systemLogLevelV2: SystemLogLevel.WARN,
      // The service leaves out what is below `LOG_LEVEL` itself. Lines of metrics have no level, which counts as INFO.
      applicationLogLevelV2: ApplicationLogLevel.INFO,
      environment: environmentOf(area, resources, settings),
      // A long job continues in a new message, which Lambda would mistake for an endless loop.
      ...(area.kind === 'worker' ? { recursiveLoop: RecursiveLoop.ALLOW } : {}),
      // The versions before are kept: long answers run on to their end, and the alias can be pointed back by hand.
      currentVersionOptions: { removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE },
    });
    if (CALLED.includes(area.kind))
      this.live = new Alias(this, 'Live', {
        aliasName: 'live',
        // The interfaces declare optional properties without `undefined`, but the classes with it.
        version: this.function.currentVersion as IVersion,
      });
  }

  /** The function as others call it. */
  get called(): IFunction {
    return (this.live ?? this.function) as IFunction;
  }
}

/** Without a setting nothing is reserved: Lambda refuses to reserve anything in a new account (`settings.ts`). */
function reserved(
  { reservedConcurrency }: Settings,
  name: string,
): { reservedConcurrentExecutions?: number } {
  const reservedConcurrentExecutions = reservedConcurrency.get(name);
  return reservedConcurrentExecutions === undefined ? {} : { reservedConcurrentExecutions };
}

/**
 * Bytes of a pack that a response can carry: 200 MB streamed (Lambda guide, "Response streaming"), or 6 MB as Base64
 * ("Lambda quotas"). A little is left for the framing, and for deltas that have to be written anew.
 */
const MAX_RESPONSE = { streamed: 195_000_000, buffered: 4_400_000 };

/** The variables read by `lib/store/environment.ts`, `lib/telemetry` and Powertools, and the adapter's response mode. */
export function environmentOf(area: Area, resources: Resources, settings: Settings): Record<string, string> {
  const variables: Record<string, string> = {
    SERVICE_NAME: settings.serviceName,
    DEFAULT_BRANCH_NAME: settings.defaultBranchName,
    AREA: area.name,
    LOG_LEVEL: settings.logLevel,
    POWERTOOLS_METRICS_NAMESPACE: settings.instance,
    ...MALLOC,
  };
  if (settings.endpointMetrics) variables['ENDPOINT_METRICS'] = '1';
  if (area.rights.table !== undefined) variables['TABLE_NAME'] = resources.table.tableName;
  if (area.rights.objects !== undefined) variables['OBJECTS_BUCKET'] = resources.objects.bucketName;
  // Their names are checked where none of their objects is read.
  if (area.rights.table !== undefined && resources.storages.length > 0)
    variables['REPOSITORY_STORAGES'] = resources.storages
      .map(({ name, bucket, prefix }) => `${name}=${bucket.bucketName}${prefix === '' ? '' : `/${prefix}`}`)
      .join(',');
  if (settings.outboundAllow !== undefined) variables['OUTBOUND_ALLOW'] = settings.outboundAllow;
  if (area.kind === 'api' && settings.longReads !== undefined) variables['LONG_READS'] = settings.longReads;
  if (settings.clientThrottles) variables['CLIENT_THROTTLES'] = '1';
  if (settings.deletionDelayDays > 0) variables['DELETION_DELAY_DAYS'] = String(settings.deletionDelayDays);
  if (area.rights.mail === true && resources.mailFrom !== undefined) {
    variables['MAIL_FROM'] = resources.mailFrom;
  }
  if (area.rights.masterKey !== undefined) variables['MASTER_KEY_PARAMETER'] = resources.masterKeyParameter;
  if (settings.baseUrl !== undefined) variables['BASE_URL'] = settings.baseUrl;
  if (settings.gitFrontUrl !== undefined) variables['GIT_FRONT_URL'] = settings.gitFrontUrl;
  if (area.kind === 'api' && settings.stream) variables['STREAM'] = '1';
  if (area.rights.countsMessages === true) {
    const counted = { ...resources.queues, dead: resources.deadLetters };
    for (const [name, { queueUrl }] of Object.entries(counted))
      variables[`COUNTED_QUEUE_URL_${name.toUpperCase()}`] = queueUrl;
  }
  if (area.kind === 'worker') variables['WORKER_QUEUE_URL'] = resources.queues[area.queue].queueUrl;
  if (area.name === 'git')
    variables['MAX_FETCH_BYTES'] = String(MAX_RESPONSE[settings.stream ? 'streamed' : 'buffered']);
  for (const name of area.rights.sends ?? []) {
    variables[`QUEUE_URL_${name.toUpperCase().replaceAll('-', '_')}`] = resources.queues[name].queueUrl;
  }
  return variables;
}

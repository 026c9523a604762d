import { RemovalPolicy, Stack } from 'aws-cdk-lib';
import {
  AccessLogField,
  AccessLogFormat,
  ApiDefinition,
  EndpointType,
  LogGroupLogDestination,
  MethodLoggingLevel,
  SpecRestApi,
} from 'aws-cdk-lib/aws-apigateway';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { areasOf } from '../functions/areas.ts';
import { gatewayDocument } from './gateway-document.ts';
import type { Settings } from './settings.ts';

/** Requests a second, and at once, that the stage lets through: what protects the bill, not a limit per user. */
const THROTTLE = { rate: 500, burst: 1000 };

export interface GatewayProps {
  readonly settings: Settings;
  /** The function of an area, by its name. */
  readonly functionOf: (name: string) => LambdaFunction;
}

/**
 * The REST API. An HTTP API would be cheaper, but it hands on a decoded path, and `projects/group%2Fname` lives from
 * its `%2F`; only a REST API streams answers.
 */
export class Gateway extends Construct {
  readonly api: SpecRestApi;
  readonly accessLog: LogGroup;

  constructor(scope: Construct, id: string, { settings, functionOf }: GatewayProps) {
    super(scope, id);
    this.accessLog = new LogGroup(this, 'AccessLog', {
      retention: RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const [authorizer] = areasOf('authorizer');
    if (authorizer === undefined) throw new Error('The manifest names no authorizer');
    const document = gatewayDocument(this, {
      settings,
      functionOf,
      authorizer: authorizer.name,
    });
    this.api = new SpecRestApi(this, 'Api', {
      apiDefinition: ApiDefinition.fromInline(document),
      restApiName: settings.instance,
      description: 'REST v4 and Git over smart HTTP',
      endpointTypes: [EndpointType.REGIONAL],
      // Every body arrives and leaves as bytes: packs, files, archives.
      binaryMediaTypes: ['*/*'],
      // Stages write logs with a role of the account, not of the API; it stays when this instance goes.
      cloudWatchRole: true,
      cloudWatchRoleRemovalPolicy: RemovalPolicy.RETAIN,
      deployOptions: {
        stageName: 'prod',
        throttlingRateLimit: THROTTLE.rate,
        throttlingBurstLimit: THROTTLE.burst,
        // The gateway's own mistakes only. Data tracing stays off: it would log tokens and contents.
        loggingLevel: MethodLoggingLevel.ERROR,
        dataTraceEnabled: false,
        accessLogDestination: new LogGroupLogDestination(this.accessLog),
        accessLogFormat: accessLogFormat(),
      },
    });
    const caller = new ServicePrincipal('apigateway.amazonaws.com');
    // One permission per function for the whole API: one per path would outgrow a function's 20 KB policy.
    for (const { name } of areasOf('api')) {
      functionOf(name).addPermission('Gateway', {
        principal: caller,
        sourceArn: this.api.arnForExecuteApi(),
      });
    }
    functionOf(authorizer.name).addPermission('Gateway', {
      principal: caller,
      sourceArn: Stack.of(this).formatArn({
        service: 'execute-api',
        resource: this.api.restApiId,
        resourceName: 'authorizers/*',
      }),
    });
  }
}

/** One JSON line per request. No query strings and no headers: tokens travel in both. */
function accessLogFormat(): AccessLogFormat {
  return AccessLogFormat.custom(
    JSON.stringify({
      time: AccessLogField.contextRequestTimeEpoch(),
      requestId: AccessLogField.contextRequestId(),
      // The call of the function, as its own lines tell it.
      invocation: '$context.integration.requestId',
      ip: AccessLogField.contextIdentitySourceIp(),
      agent: AccessLogField.contextIdentityUserAgent(),
      method: AccessLogField.contextHttpMethod(),
      path: AccessLogField.contextPath(),
      resource: AccessLogField.contextResourcePath(),
      status: AccessLogField.contextStatus(),
      bytes: AccessLogField.contextResponseLength(),
      latency: AccessLogField.contextResponseLatency(),
      integrationLatency: AccessLogField.contextIntegrationLatency(),
      error: AccessLogField.contextErrorResponseType(),
    }),
  );
}

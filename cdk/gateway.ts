import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import {
  AccessLogField,
  AccessLogFormat,
  AuthorizationType,
  type CfnAuthorizer,
  EndpointType,
  LambdaIntegration,
  LogGroupLogDestination,
  MethodLoggingLevel,
  RequestAuthorizer,
  ResponseTransferMode,
  RestApi,
} from 'aws-cdk-lib/aws-apigateway';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { areasOf } from '../functions/areas.ts';
import { gatewayResponses } from './gateway-responses.ts';
import type { Settings } from './settings.ts';

/** Requests a second, and at once, that the stage lets through: what protects the bill, not a limit per user. */
const THROTTLE = { rate: 500, burst: 1000 };

/** What a buffered integration may take unless the account's quota was raised. */
const BUFFERED_LIMIT_SECONDS = 29;

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
  readonly api: RestApi;
  readonly accessLog: LogGroup;

  constructor(scope: Construct, id: string, { settings, functionOf }: GatewayProps) {
    super(scope, id);
    this.accessLog = new LogGroup(this, 'AccessLog', {
      retention: RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.api = new RestApi(this, 'Api', {
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
    for (const [name, response] of Object.entries(gatewayResponses(settings.serviceName))) {
      this.api.addGatewayResponse(name, response);
    }
    const authorizer = this.#authorizer(functionOf);
    for (const area of areasOf('api')) {
      const integration = new LambdaIntegration(functionOf(area.name), {
        // One permission per function for the whole API: one per method would outgrow a function's 20 KB policy.
        scopePermissionToMethod: false,
        responseTransferMode: settings.stream ? ResponseTransferMode.STREAM : ResponseTransferMode.BUFFERED,
        timeout: Duration.seconds(
          settings.stream ? area.timeout : Math.min(area.timeout, BUFFERED_LIMIT_SECONDS),
        ),
      });
      for (const path of area.resources) {
        this.api.root
          .resourceForPath(path)
          .addMethod(
            'ANY',
            integration,
            area.authorizer === 'git'
              ? { authorizer, authorizationType: AuthorizationType.CUSTOM }
              : { authorizationType: AuthorizationType.NONE },
          );
      }
    }
  }

  /** Asked on every request: whoever lost a right loses it with the next request, and anonymous ones reach it too. */
  #authorizer(functionOf: GatewayProps['functionOf']): RequestAuthorizer {
    const [area] = areasOf('authorizer');
    if (area === undefined) throw new Error('The manifest names no authorizer');
    const authorizer = new RequestAuthorizer(this, 'GitAuthorizer', {
      handler: functionOf(area.name),
      identitySources: [],
      resultsCacheTtl: Duration.seconds(0),
    });
    // CDK writes the empty list as an empty name of one source; a gateway without a cache needs none.
    (authorizer.node.defaultChild as CfnAuthorizer).addPropertyDeletionOverride('IdentitySource');
    return authorizer;
  }
}

/** One JSON line per request. No query strings and no headers: tokens travel in both. */
function accessLogFormat(): AccessLogFormat {
  return AccessLogFormat.custom(
    JSON.stringify({
      time: AccessLogField.contextRequestTimeEpoch(),
      requestId: AccessLogField.contextRequestId(),
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

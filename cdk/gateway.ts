import { CfnOutput, RemovalPolicy, Stack } from 'aws-cdk-lib';
import {
  AccessLogField,
  AccessLogFormat,
  ApiDefinition,
  EndpointType,
  LogGroupLogDestination,
  MethodLoggingLevel,
  SecurityPolicy,
  SpecRestApi,
} from 'aws-cdk-lib/aws-apigateway';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, LogGroupClass, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { areasOf } from '../functions/areas.ts';
import { gatewayDocument } from './gateway-document.ts';
import type { Settings } from './settings.ts';

export interface GatewayProps {
  readonly settings: Settings;
  /** Returns what to call for an area, by the area's name. */
  readonly functionOf: (name: string) => IFunction;
}

/**
 * The REST API. An HTTP API would be cheaper, but it passes on decoded paths, and `projects/group%2Fname` needs its
 * `%2F`; also, only a REST API streams responses.
 */
export class Gateway extends Construct {
  readonly api: SpecRestApi;

  constructor(scope: Construct, id: string, { settings, functionOf }: GatewayProps) {
    super(scope, id);
    // CloudFormation cannot change the class of a group: one of another class has another name.
    const accessLog = new LogGroup(this, 'Requests', {
      // Half the price. Nothing is counted from it, and Logs Insights reads it.
      logGroupClass: LogGroupClass.INFREQUENT_ACCESS,
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
      // All bodies are binary: packs, files, archives.
      binaryMediaTypes: ['*/*'],
      // Stages log with a role of the account, not of the API; it is kept when this instance is deleted.
      cloudWatchRole: true,
      cloudWatchRoleRemovalPolicy: RemovalPolicy.RETAIN,
      deployOptions: {
        stageName: 'prod',
        throttlingRateLimit: settings.requestRate,
        throttlingBurstLimit: settings.requestBurst,
        // Only errors of the gateway. Data tracing is off: it would log tokens and contents.
        loggingLevel: MethodLoggingLevel.ERROR,
        dataTraceEnabled: false,
        accessLogDestination: new LogGroupLogDestination(accessLog),
        accessLogFormat: accessLogFormat(),
      },
    });
    if (settings.domain !== undefined) this.#serveAt(settings.domain);
    const caller = new ServicePrincipal('apigateway.amazonaws.com');
    // One permission per function for the whole API: one per path would exceed the 20 KB of a function's policy.
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

  /** The stage is at the root of the domain: paths are the same as at the gateway's own URL, without `/prod`. */
  #serveAt({ name, certificate }: NonNullable<Settings['domain']>): void {
    const domain = this.api.addDomainName('Domain', {
      domainName: name,
      certificate: Certificate.fromCertificateArn(this, 'Certificate', certificate),
      endpointType: EndpointType.REGIONAL,
      securityPolicy: SecurityPolicy.TLS_1_2,
    });
    new CfnOutput(Stack.of(this), 'DomainTarget', {
      description: `Point ${name} here`,
      value: domain.domainNameAliasDomainName,
    });
  }
}

/** One JSON line per request, without query strings and headers: both may contain tokens. */
function accessLogFormat(): AccessLogFormat {
  return AccessLogFormat.custom(
    JSON.stringify({
      time: AccessLogField.contextRequestTimeEpoch(),
      requestId: AccessLogField.contextRequestId(),
      // The request ID of the function, as in its own log lines.
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

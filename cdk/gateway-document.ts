import { Fn, Stack } from 'aws-cdk-lib';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { type ApiArea, areasOf } from '../functions/areas.ts';
import { gatewayResponses } from './gateway-responses.ts';
import type { Settings } from './settings.ts';

/** What an integration may take unless the account's quota was raised. */
const BUFFERED_LIMIT_SECONDS = 29;

/** The security scheme that is the authorizer for Git. */
const GIT = 'git';

export interface GatewayDocumentProps {
  readonly settings: Settings;
  /** The function of an area, by its name. */
  readonly functionOf: (name: string) => LambdaFunction;
  /** The name of the area that authorizes Git. */
  readonly authorizer: string;
}

/**
 * The gateway's routes and own answers as an OpenAPI document with API Gateway's extensions: every path of the manifest, for every method,
 * with its function. Each path would be two resources of CloudFormation, of which a stack takes 500. What is not in the
 * document an update may take away, so nothing of the API is declared beside it.
 */
export function gatewayDocument(scope: Construct, props: GatewayDocumentProps): object {
  const { settings, functionOf } = props;
  const routes = areasOf('api').flatMap((area) =>
    area.resources.map((path) => [path, { 'x-amazon-apigateway-any-method': operation(scope, area, props) }]),
  );
  return {
    openapi: '3.0.1',
    info: { title: settings.instance, version: '4' },
    // Every body arrives and leaves as bytes: packs, files, archives.
    'x-amazon-apigateway-binary-media-types': ['*/*'],
    'x-amazon-apigateway-gateway-responses': gatewayResponses(settings.serviceName),
    paths: Object.fromEntries(routes),
    components: {
      securitySchemes: {
        // Asked on every request: whoever lost a right loses it with the next request, and anonymous ones reach it too.
        [GIT]: {
          type: 'apiKey',
          // A scheme needs both; without a cache the authorizer looks where it likes.
          name: 'Unused',
          in: 'header',
          'x-amazon-apigateway-authtype': 'custom',
          'x-amazon-apigateway-authorizer': {
            type: 'request',
            authorizerUri: uri(scope, functionOf(props.authorizer), false),
            authorizerResultTtlInSeconds: 0,
          },
        },
      },
    },
  };
}

function operation(scope: Construct, area: ApiArea, { settings, functionOf }: GatewayDocumentProps): object {
  const { stream } = settings;
  const seconds = stream ? area.timeout : Math.min(area.timeout, BUFFERED_LIMIT_SECONDS);
  return {
    responses: {},
    ...(area.authorizer === 'git' ? { security: [{ [GIT]: [] }] } : {}),
    'x-amazon-apigateway-integration': {
      type: 'aws_proxy',
      // Of the call to Lambda, whatever the client's is.
      httpMethod: 'POST',
      uri: uri(scope, functionOf(area.name), stream),
      responseTransferMode: stream ? 'STREAM' : 'BUFFERED',
      timeoutInMillis: seconds * 1000,
    },
  };
}

/** Where the gateway calls a function: an answer that is streamed comes from another action than one that is not. */
function uri(scope: Construct, { functionArn }: LambdaFunction, stream: boolean): string {
  const { partition, region } = Stack.of(scope);
  const [version, action] = stream
    ? ['2021-11-15', 'response-streaming-invocations']
    : ['2015-03-31', 'invocations'];
  return Fn.join('', [
    `arn:${partition}:apigateway:${region}:lambda:path/${version}/functions/`,
    functionArn,
    `/${action}`,
  ]);
}

import { Fn, Stack } from 'aws-cdk-lib';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { type ApiArea, areasOf } from '../functions/areas.ts';
import { gatewayResponses } from './gateway-responses.ts';
import { gatewayTree } from './gateway-tree.ts';
import type { Settings } from './settings.ts';

/** Maximum integration timeout unless the account's quota was raised. */
const BUFFERED_LIMIT_SECONDS = 29;

/** Name of the security scheme of the Git authorizer. */
const GIT = 'git';

export interface GatewayDocumentProps {
  readonly settings: Settings;
  /** Returns what to call for an area, by the area's name. */
  readonly functionOf: (name: string) => IFunction;
  /** The name of the area that authorizes Git. */
  readonly authorizer: string;
}

/**
 * The gateway's routes and own responses as an OpenAPI document with API Gateway's extensions: every path of the
 * manifest, for every method, with its function. As CloudFormation resources each path would need two, and a stack can
 * have 500. An update may remove what is not in the document, so nothing of the API is declared elsewhere.
 * @throws RangeError for paths that API Gateway would refuse
 */
export function gatewayDocument(scope: Construct, props: GatewayDocumentProps): object {
  const { settings, functionOf } = props;
  gatewayTree(areasOf('api').flatMap(({ resources }) => resources));
  const routes = areasOf('api').flatMap((area) =>
    area.resources.map((path) => [path, { 'x-amazon-apigateway-any-method': operation(scope, area, props) }]),
  );
  return {
    openapi: '3.0.1',
    info: { title: settings.instance, version: '4' },
    // All bodies are binary: packs, files, archives.
    'x-amazon-apigateway-binary-media-types': ['*/*'],
    'x-amazon-apigateway-gateway-responses': gatewayResponses(settings),
    paths: Object.fromEntries(routes),
    components: {
      securitySchemes: {
        // Called for every request: revoked rights take effect at once, and anonymous requests reach it too.
        [GIT]: {
          type: 'apiKey',
          // A scheme needs both; without a cache the authorizer may read any header.
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
      // Method of the call to Lambda, independent of the client's.
      httpMethod: 'POST',
      uri: uri(scope, functionOf(area.name), stream),
      responseTransferMode: stream ? 'STREAM' : 'BUFFERED',
      timeoutInMillis: seconds * 1000,
    },
  };
}

/** The invocation URL of a function; streamed and buffered responses use different actions. */
function uri(scope: Construct, { functionArn }: IFunction, stream: boolean): string {
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

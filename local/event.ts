import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { APIGatewayProxyEvent, APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { callerAddress } from './caller-address.ts';
import type { Route } from './routes.ts';

/** The event that a REST API of API Gateway sends to a Lambda proxy integration; `path` has no stage prefix, as there. */
export function proxyEvent(
  request: IncomingMessage,
  route: Route,
  body: Uint8Array | undefined,
): APIGatewayProxyEvent {
  const { path, query } = split(request.url ?? '/');
  const { single, multi } = headersOf(request);
  const parameters = queryOf(query);
  return {
    resource: route.resource,
    path,
    httpMethod: request.method ?? 'GET',
    headers: single,
    multiValueHeaders: multi,
    queryStringParameters:
      parameters && Object.fromEntries(Object.entries(parameters).map(([k, v]) => [k, v.at(-1)!])),
    multiValueQueryStringParameters: parameters,
    pathParameters: Object.keys(route.pathParameters).length === 0 ? null : { ...route.pathParameters },
    stageVariables: null,
    requestContext: requestContext(request, route, path),
    body: body === undefined || body.length === 0 ? null : Buffer.from(body).toString('base64'),
    isBase64Encoded: body !== undefined && body.length > 0,
  };
}

/** The event that the gateway sends to a REQUEST authorizer. */
export function authorizerEvent(event: APIGatewayProxyEvent): APIGatewayRequestAuthorizerEvent {
  const { body: _body, isBase64Encoded: _encoded, ...rest } = event;
  return {
    ...rest,
    type: 'REQUEST',
    methodArn: `arn:aws:execute-api:local:000000000000:local/local/${event.httpMethod}${event.path}`,
    requestContext: event.requestContext as APIGatewayRequestAuthorizerEvent['requestContext'],
  };
}

/** Splits a URL at the first `?`. The path stays encoded. */
export function split(url: string): { path: string; query: string } {
  const at = url.indexOf('?');
  return at < 0 ? { path: url, query: '' } : { path: url.slice(0, at), query: url.slice(at + 1) };
}

function headersOf(request: IncomingMessage) {
  // A header may be called `__proto__`.
  const single: Record<string, string> = Object.create(null);
  const multi: Record<string, string[]> = Object.create(null);
  for (let i = 0; i + 1 < request.rawHeaders.length; i += 2) {
    const name = request.rawHeaders[i]!;
    const value = request.rawHeaders[i + 1]!;
    single[name] = value;
    (multi[name] ??= []).push(value);
  }
  return { single, multi };
}

/** The gateway decodes query parameters. */
function queryOf(query: string): Record<string, string[]> | null {
  if (query === '') return null;
  const parameters: Record<string, string[]> = Object.create(null);
  for (const [name, value] of new URLSearchParams(query)) (parameters[name] ??= []).push(value);
  return parameters;
}

function requestContext(
  request: IncomingMessage,
  route: Route,
  path: string,
): APIGatewayProxyEvent['requestContext'] {
  const now = new Date();
  return {
    accountId: '000000000000',
    apiId: 'local',
    authorizer: null,
    protocol: `HTTP/${request.httpVersion}`,
    httpMethod: request.method ?? 'GET',
    identity: {
      accessKey: null,
      accountId: null,
      apiKey: null,
      apiKeyId: null,
      caller: null,
      clientCert: null,
      cognitoAuthenticationProvider: null,
      cognitoAuthenticationType: null,
      cognitoIdentityId: null,
      cognitoIdentityPoolId: null,
      principalOrgId: null,
      sourceIp: callerAddress(request),
      user: null,
      userAgent: request.headers['user-agent'] ?? null,
      userArn: null,
    },
    path,
    stage: 'local',
    requestId: randomUUID(),
    requestTime: now.toUTCString(),
    requestTimeEpoch: now.getTime(),
    resourceId: route.resource,
    resourcePath: route.resource,
    domainName: request.headers.host ?? 'localhost',
  };
}

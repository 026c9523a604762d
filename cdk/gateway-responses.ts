import { type GatewayResponseOptions, ResponseType } from 'aws-cdk-lib/aws-apigateway';

const json = (body: object) => ({ 'application/json': JSON.stringify(body) });
const message = (text: string) => json({ message: text });

/**
 * The answers the gateway makes without asking a function, in the words the API itself would use: the status stands
 * in the text, `message` for refusals, `error` where no route matches.
 */
export function gatewayResponses(serviceName: string): Record<string, GatewayResponseOptions> {
  const responses: Record<string, GatewayResponseOptions> = {
    // Git sends no credentials before it has seen this header, and a proxy integration cannot send it: API Gateway
    // renames it to x-amzn-Remapped-WWW-Authenticate.
    Unauthorized: {
      type: ResponseType.UNAUTHORIZED,
      statusCode: '401',
      responseHeaders: { 'WWW-Authenticate': `'Basic realm="${serviceName}"'` },
      templates: message('401 Unauthorized'),
    },
    AccessDenied: {
      type: ResponseType.ACCESS_DENIED,
      statusCode: '403',
      templates: message('403 Forbidden'),
    },
    // What the gateway calls a missing token is a path that no resource matches.
    MissingAuthenticationToken: {
      type: ResponseType.MISSING_AUTHENTICATION_TOKEN,
      statusCode: '404',
      templates: json({ error: '404 Not Found' }),
    },
    ResourceNotFound: {
      type: ResponseType.RESOURCE_NOT_FOUND,
      statusCode: '404',
      templates: json({ error: '404 Not Found' }),
    },
    RequestTooLarge: {
      type: ResponseType.REQUEST_TOO_LARGE,
      statusCode: '413',
      templates: message('413 Request Entity Too Large'),
    },
    UnsupportedMediaType: {
      type: ResponseType.UNSUPPORTED_MEDIA_TYPE,
      statusCode: '415',
      templates: message('415 Unsupported Media Type'),
    },
    Throttled: {
      type: ResponseType.THROTTLED,
      statusCode: '429',
      responseHeaders: { 'Retry-After': "'1'" },
      templates: message('429 Too Many Requests'),
    },
    IntegrationTimeout: {
      type: ResponseType.INTEGRATION_TIMEOUT,
      statusCode: '504',
      templates: message('504 Gateway Timeout'),
    },
    // The function could not be reached or was throttled: worth another try, which 503 says and 500 does not.
    IntegrationFailure: {
      type: ResponseType.INTEGRATION_FAILURE,
      statusCode: '503',
      responseHeaders: { 'Retry-After': "'1'" },
      templates: message('503 Service Unavailable'),
    },
    // Without a status of their own: one here would change that of every kind not named above.
    Default4xx: {
      type: ResponseType.DEFAULT_4XX,
      templates: { 'application/json': '{"message":$context.error.messageString}' },
    },
    Default5xx: { type: ResponseType.DEFAULT_5XX, templates: message('500 Internal Server Error') },
  };
  for (const response of Object.values(responses)) {
    // A browser hides an answer without this header from the page that asked, and the page sees a network error.
    Object.assign(response, {
      responseHeaders: { ...response.responseHeaders, 'Access-Control-Allow-Origin': "'*'" },
    });
  }
  return responses;
}

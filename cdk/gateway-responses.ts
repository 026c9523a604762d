import type { Settings } from './settings.ts';

/** In the format of API Gateway's OpenAPI extension. */
interface GatewayResponse {
  readonly statusCode?: string;
  readonly responseParameters: Readonly<Record<string, string>>;
  readonly responseTemplates: Readonly<Record<string, string>>;
}

interface Answer {
  readonly statusCode?: string;
  /** Mapping expressions: literal texts need their own quotes. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly templates: Readonly<Record<string, string>>;
}

const json = (body: object) => ({ 'application/json': JSON.stringify(body) });
const message = (text: string) => json({ message: text });

/**
 * The gateway's own responses, in the API's format: the status is part of the text, in `message` for refusals and in
 * `error` if no route matches.
 */
export function gatewayResponses({
  serviceName,
  wafRateLimit,
}: Pick<Settings, 'serviceName' | 'wafRateLimit'>): Record<string, GatewayResponse> {
  const responses: Record<string, Answer> = {
    // Git sends no credentials before it has received this header. A proxy integration cannot send it: API Gateway
    // renames it to x-amzn-Remapped-WWW-Authenticate.
    UNAUTHORIZED: {
      statusCode: '401',
      headers: {
        'WWW-Authenticate': `'Basic realm="${serviceName}"'`,
        'LFS-Authenticate': `'Basic realm="${serviceName}"'`,
      },
      templates: message('401 Unauthorized'),
    },
    ACCESS_DENIED: {
      statusCode: '403',
      templates: message('403 Forbidden'),
    },
    // The gateway's "missing token" means that no resource matches the path.
    MISSING_AUTHENTICATION_TOKEN: {
      statusCode: '404',
      templates: json({ error: '404 Not Found' }),
    },
    RESOURCE_NOT_FOUND: {
      statusCode: '404',
      templates: json({ error: '404 Not Found' }),
    },
    REQUEST_TOO_LARGE: {
      statusCode: '413',
      templates: message('413 Request Entity Too Large'),
    },
    UNSUPPORTED_MEDIA_TYPE: {
      statusCode: '415',
      templates: message('415 Unsupported Media Type'),
    },
    THROTTLED: {
      statusCode: '429',
      headers: { 'Retry-After': "'1'" },
      templates: message('429 Too Many Requests'),
    },
    // Our own rule: the address asked too often. WAF counts the last five minutes again every few seconds.
    ...(wafRateLimit === undefined
      ? {}
      : {
          WAF_FILTERED: {
            statusCode: '429',
            headers: { 'Retry-After': "'60'" },
            templates: message('429 Too Many Requests'),
          },
        }),
    INTEGRATION_TIMEOUT: {
      statusCode: '504',
      templates: message('504 Gateway Timeout'),
    },
    // The function could not be reached or was throttled: 503 tells the client to retry, 500 does not.
    INTEGRATION_FAILURE: {
      statusCode: '503',
      headers: { 'Retry-After': "'1'" },
      templates: message('503 Service Unavailable'),
    },
    // Without a status: one here would override the status of every type not listed above.
    DEFAULT_4XX: {
      templates: { 'application/json': '{"message":$context.error.messageString}' },
    },
    DEFAULT_5XX: {
      templates: message('500 Internal Server Error'),
    },
  };
  return Object.fromEntries(
    Object.entries(responses).map(([type, { statusCode, headers = {}, templates }]) => [
      type,
      {
        ...(statusCode === undefined ? {} : { statusCode }),
        responseParameters: parameters({
          ...headers,
          // Without it a browser hides the response from the page, which sees a network error.
          'Access-Control-Allow-Origin': "'*'",
        }),
        responseTemplates: templates,
      },
    ]),
  );
}

const parameters = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [`gatewayresponse.header.${name}`, value]),
  );

/** As API Gateway's extension of OpenAPI has it. */
interface GatewayResponse {
  readonly statusCode?: string;
  readonly responseParameters: Readonly<Record<string, string>>;
  readonly responseTemplates: Readonly<Record<string, string>>;
}

interface Answer {
  readonly statusCode?: string;
  /** Expressions: a text is in quotes of its own. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly templates: Readonly<Record<string, string>>;
}

const json = (body: object) => ({ 'application/json': JSON.stringify(body) });
const message = (text: string) => json({ message: text });

/**
 * The answers the gateway makes without asking a function, in the words the API itself would use: the status stands
 * in the text, `message` for refusals, `error` where no route matches.
 */
export function gatewayResponses(serviceName: string): Record<string, GatewayResponse> {
  const responses: Record<string, Answer> = {
    // Git sends no credentials before it has seen this header, and a proxy integration cannot send it: API Gateway
    // renames it to x-amzn-Remapped-WWW-Authenticate.
    UNAUTHORIZED: {
      statusCode: '401',
      headers: { 'WWW-Authenticate': `'Basic realm="${serviceName}"'` },
      templates: message('401 Unauthorized'),
    },
    ACCESS_DENIED: {
      statusCode: '403',
      templates: message('403 Forbidden'),
    },
    // What the gateway calls a missing token is a path that no resource matches.
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
    INTEGRATION_TIMEOUT: {
      statusCode: '504',
      templates: message('504 Gateway Timeout'),
    },
    // The function could not be reached or was throttled: worth another try, which 503 says and 500 does not.
    INTEGRATION_FAILURE: {
      statusCode: '503',
      headers: { 'Retry-After': "'1'" },
      templates: message('503 Service Unavailable'),
    },
    // Without a status of their own: one here would change that of every kind not named above.
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
          // A browser hides an answer without it from the page that asked, and the page sees a network error.
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

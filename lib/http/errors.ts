/**
 * The one place where failures become answers. A failure of the protocol itself (no such route, bad parameters)
 * says `{"error": ...}`, one that a rule raised says `{"message": ...}`.
 */
import { type DomainError, domainErrorOf, type ErrorCode } from '../domain/errors.ts';
import { Throttled } from '../domain/rate-limits/throttles.ts';
import { json, type Reply } from './reply.ts';
import { throttledReply } from './throttle.ts';

/** A failure that only HTTP knows: its body is made, nothing of it is secret. */
export class HttpFailure extends Error {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    body: Readonly<Record<string, unknown>>,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(JSON.stringify(body));
    this.name = 'HttpFailure';
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

/** More is not told of one request: a long list of objects can be wrong in every one of them. */
const MOST_TEXTS = 100;

/** 400: parameters that break their schema. */
export const badParameters = (texts: readonly string[]) =>
  new HttpFailure(400, { error: texts.slice(0, MOST_TEXTS).join(', ') });

/** 400: a request that cannot be read at all. */
export const malformed = (what: string) => new HttpFailure(400, { error: what });

export const noRoute = () => new HttpFailure(404, { error: '404 Not Found' });

export const notAllowed = (allow: readonly string[]) =>
  new HttpFailure(405, { error: '405 Not Allowed' }, { Allow: allow.join(', ') });

export const oldVersion = () =>
  new HttpFailure(410, { error: 'API V3 is no longer supported. Use API V4 instead.' });

const STATUS: Readonly<Record<ErrorCode, number>> = {
  'bad-request': 400,
  unauthorized: 401,
  'invalid-token': 401,
  forbidden: 403,
  'insufficient-scope': 403,
  'not-found': 404,
  'method-not-allowed': 405,
  'not-acceptable': 406,
  conflict: 409,
  gone: 410,
  'precondition-failed': 412,
  'too-large': 413,
  unprocessable: 422,
  invalid: 400,
  'too-many-requests': 429,
  'read-only': 503,
  unavailable: 503,
};

/** The status a domain error is answered with. */
export const statusOf = (code: ErrorCode): number => STATUS[code];

/**
 * The answer to a failure, or undefined when the cause is not one that a caller may hear of (a 500, see
 * `internalError`). The detail of `invalid-token` is its description; of `insufficient-scope`, the scopes needed.
 */
export function failureReply(error: unknown): Reply | undefined {
  if (error instanceof HttpFailure) return json(error.body, { status: error.status, headers: error.headers });
  if (error instanceof Throttled) return throttledReply(error);
  const told = domainErrorOf(error);
  return told && replyOf(told);
}

function replyOf(error: DomainError): Reply {
  const status = STATUS[error.code];
  if (error.code === 'invalid-token') {
    const description = String(error.detail);
    return json(
      { error: 'invalid_token', error_description: description, ...error.extra },
      {
        status,
        headers: {
          'WWW-Authenticate': `Bearer realm="The API", error="invalid_token", error_description="${quoted(description)}"`,
        },
      },
    );
  }
  if (error.code === 'insufficient-scope') {
    const scope = Array.isArray(error.detail) ? error.detail.join(' ') : String(error.detail);
    return json(
      {
        error: 'insufficient_scope',
        error_description: 'The request requires higher privileges than provided by the access token.',
        scope,
        ...error.extra,
      },
      { status },
    );
  }
  return json({ message: error.detail, ...error.extra }, { status });
}

export const internalError = (): Reply => json({ message: '500 Internal Server Error' }, { status: 500 });

/** As a quoted-string of RFC 9110 §5.6.4 carries it. */
const quoted = (text: string) => text.replace(/[^\x20-\x7e]/g, '?').replace(/["\\]/g, '\\$&');

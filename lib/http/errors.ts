/**
 * The one place that turns errors into responses. Errors of the protocol itself (unknown route, invalid parameters) have
 * the body `{"error": ...}`, errors that a rule raised `{"message": ...}`.
 */
import { CallerGone } from '../domain/caller-gone.ts';
import { type DomainError, domainErrorOf, type ErrorCode } from '../domain/errors.ts';
import { Throttled } from '../domain/rate-limits/throttles.ts';
import { json, Reply } from './reply.ts';
import { throttledReply } from './throttled-reply.ts';

/** An error of the protocol itself, with its response body; the body contains nothing secret. */
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

/** Maximum number of problems reported for one request: every item of a long list can be invalid. */
const MAX_PROBLEMS = 100;

/** 400: parameters that do not match their schema. */
export const badParameters = (texts: readonly string[]) =>
  new HttpFailure(400, { error: texts.slice(0, MAX_PROBLEMS).join(', ') });

/** 400: a request that cannot be parsed. */
export const malformed = (what: string) => new HttpFailure(400, { error: what });

export const noRoute = () => new HttpFailure(404, { error: '404 Not Found' });

/** 308: the same request, with method and body, belongs to another URL. */
export const elsewhere = (url: string) =>
  new HttpFailure(308, { error: '308 Permanent Redirect' }, { Location: url });

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

/** The HTTP status of a domain error. */
export const statusOf = (code: ErrorCode): number => STATUS[code];

/**
 * The response for an error; undefined for an unknown error, whose cause callers may not learn (a 500, see
 * `internalError`). The detail of `invalid-token` is its description, that of `insufficient-scope` the required scopes.
 */
export function failureReply(error: unknown): Reply | undefined {
  if (error instanceof HttpFailure) return json(error.body, { status: error.status, headers: error.headers });
  if (error instanceof Throttled) return throttledReply(error);
  // Nobody reads it; the log shows the status that nginx uses.
  if (error instanceof CallerGone) return new Reply(499, {}, null);
  const domainError = domainErrorOf(error);
  return domainError && replyOf(domainError);
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
  const headers = error.retryAfter === undefined ? {} : { 'Retry-After': String(error.retryAfter) };
  return json({ message: error.detail, ...error.extra }, { status, headers });
}

export const internalError = (): Reply => json({ message: '500 Internal Server Error' }, { status: 500 });

/** Escapes text for a quoted-string (RFC 9110 §5.6.4). */
const quoted = (text: string) => text.replace(/[^\x20-\x7e]/g, '?').replace(/["\\]/g, '\\$&');

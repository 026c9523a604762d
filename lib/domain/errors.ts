import { CorruptData } from '../git/corrupt-data.ts';
import { LimitExceeded } from '../git/work.ts';
import type { MemberSource } from '../records/members.ts';
import { LimitReached, Missing, type NameTaken, StoreError } from '../store/errors.ts';
import { ThreadBusy } from '../threads/busy.ts';

/**
 * The one family of errors that domain rules throw. Each has a stable code; `lib/http` renders it as status and body,
 * the Git protocol as a status line. The text is for the caller and never reveals what the caller may not know.
 */
export type ErrorCode =
  | 'bad-request'
  | 'unauthorized'
  | 'invalid-token'
  | 'forbidden'
  | 'insufficient-scope'
  | 'not-found'
  | 'method-not-allowed'
  | 'not-acceptable'
  | 'conflict'
  | 'gone'
  | 'precondition-failed'
  | 'too-large'
  | 'unprocessable'
  | 'invalid'
  | 'too-many-requests'
  | 'read-only'
  | 'unavailable';

/** `{ field: [problem, ...] }`: the body of a failed model validation. */
export type FieldProblems = Readonly<Record<string, readonly string[]>>;

/** `{ error: text }`: the body of rate limits of single actions and of some older failures. */
export interface NestedText {
  readonly error: string;
}

export class DomainError extends Error {
  readonly code: ErrorCode;
  /** The message in the body: one sentence, several sentences, problems by field, or a sentence one level deeper. */
  readonly detail: string | readonly string[] | FieldProblems | NestedText;
  /** Further members of the body beside the message, such as `error_code`. */
  readonly extra: Readonly<Record<string, unknown>>;
  /** Seconds after which the same request may succeed. */
  readonly retryAfter: number | undefined;

  constructor(
    code: ErrorCode,
    detail: string | readonly string[] | FieldProblems | NestedText,
    extra: Readonly<Record<string, unknown>> = {},
    retryAfter?: number,
  ) {
    super(typeof detail === 'string' ? detail : JSON.stringify(detail));
    this.name = 'DomainError';
    this.code = code;
    this.detail = detail;
    this.extra = extra;
    this.retryAfter = retryAfter;
  }

  /** The message as plain text, for answers that are not JSON. */
  get text(): string {
    const { detail } = this;
    return typeof detail === 'object' && 'error' in detail && typeof detail.error === 'string'
      ? detail.error
      : String(detail);
  }
}

/** 404 `404 <what> Not Found`; without a name the bare `404 Not Found`. */
export const notFound = (what?: string) =>
  new DomainError('not-found', what === undefined ? '404 Not Found' : `404 ${what} Not Found`);

type ResourceKind = MemberSource['kind'];

/** The name of the resource type in responses and records. */
export const resourceNoun = (kind: ResourceKind): 'Project' | 'Group' =>
  kind === 'project' ? 'Project' : 'Group';

/** The resource does not exist, or the caller may not see it. */
export const resourceNotFound = ({ kind }: { readonly kind: ResourceKind }) => notFound(resourceNoun(kind));

/** 404 `404 Not found`: a record looked up by id inside something readable. */
export const recordNotFound = () => new DomainError('not-found', '404 Not found');

export const unauthorized = () => new DomainError('unauthorized', '401 Unauthorized');

/** 403 `403 Forbidden`, or `403 Forbidden - <reason>`. */
export const forbidden = (reason?: string) =>
  new DomainError('forbidden', reason === undefined ? '403 Forbidden' : `403 Forbidden - ${reason}`);

/** 400 with the given text and no prefix, for a violated rule. */
export const refused = (text: string, extra?: Record<string, unknown>) =>
  new DomainError('bad-request', text, extra);

/** 400 `400 Bad request - <reason>`. */
export const badRequest = (reason?: string) =>
  new DomainError('bad-request', reason === undefined ? '400 Bad request' : `400 Bad request - ${reason}`);

/** 400 with problems by field. */
export const invalid = (problems: FieldProblems) => new DomainError('invalid', problems);

/** Problems of the names that are taken, by field. */
export const takenProblems = ({ names }: NameTaken): FieldProblems =>
  Object.fromEntries(names.map((name) => [name, ['has already been taken']]));

/** The error for a creation in a project that the store refused: too many `things`, or the project is gone. */
export function creationError(error: unknown, things: string): unknown {
  if (error instanceof LimitReached)
    return invalid({ base: [`Maximum number of ${things} (${error.limit}) exceeded`] });
  return error instanceof Missing ? notFound('Project') : error;
}

export const conflict = (text = '409 Conflict') => new DomainError('conflict', text);

export const notAllowed = () => new DomainError('method-not-allowed', '405 Method Not Allowed');

export const notAcceptable = (text = '406 Not Acceptable') => new DomainError('not-acceptable', text);

/** 429 with the text one level deeper: the API's response to a rate limit of a single action. @param retryAfter seconds */
export const tooManyRequests = (text: string, retryAfter?: number) =>
  new DomainError('too-many-requests', { error: text }, {}, retryAfter);

export const preconditionFailed = () => new DomainError('precondition-failed', '412 Precondition Failed');

export const tooLarge = (text = '413 Request Entity Too Large') => new DomainError('too-large', text);

export const unprocessable = (text: string | readonly string[]) => new DomainError('unprocessable', text);

export const unavailable = (text = '503 Service Unavailable') => new DomainError('unavailable', text);

/**
 * The error to show the caller: a domain error as it is, 413 where a repository's content passes a limit of the Git
 * engine that the rule did not translate, 404 where an object is not what another one names it as, 503 for an unavailable store or a busy thread, 400 for an invalid page token;
 * undefined for everything else (an internal error).
 */
export function domainErrorOf(error: unknown): DomainError | undefined {
  if (error instanceof DomainError) return error;
  if (isLimit(error)) return tooLarge(`413 Request Entity Too Large: ${error.message}`);
  // A push may name what it does not bring as something else.
  if (error instanceof CorruptData && error.code === 'object-malformed') return notFound('Object');
  if (error instanceof ThreadBusy) return unavailable();
  if (!(error instanceof StoreError)) return undefined;
  if (error.code === 'unavailable') return unavailable();
  return error.code === 'bad-page' ? badRequest() : undefined;
}

/** Objects over the engine's limit of size are too much work as well, in whatever request meets them. */
const isLimit = (error: unknown): error is Error =>
  error instanceof LimitExceeded ||
  (error instanceof CorruptData && (error.code === 'limit' || error.code === 'object-too-large'));

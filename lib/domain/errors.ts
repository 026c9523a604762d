import type { MemberSource } from '../records/members.ts';
import { StoreError } from '../store/errors.ts';

/**
 * The one family of errors that rules raise. Each has a stable code; `lib/http` renders it as status and body,
 * Git's wire as a status line. The text is for the caller and never tells what the caller may not know.
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

/** `{ field: [problem, ...] }`, as model validation answers it. */
export type FieldProblems = Readonly<Record<string, readonly string[]>>;

/** `{ error: text }`, as limits of single actions and some older failures are answered. */
export interface NestedText {
  readonly error: string;
}

export class DomainError extends Error {
  readonly code: ErrorCode;
  /** What the body carries: a sentence, several sentences, problems by field, or a sentence one level deeper. */
  readonly detail: string | readonly string[] | FieldProblems | NestedText;
  /** Members that stand beside the message, such as `error_code`. */
  readonly extra: Readonly<Record<string, unknown>>;

  constructor(
    code: ErrorCode,
    detail: string | readonly string[] | FieldProblems | NestedText,
    extra: Readonly<Record<string, unknown>> = {},
  ) {
    super(typeof detail === 'string' ? detail : JSON.stringify(detail));
    this.name = 'DomainError';
    this.code = code;
    this.detail = detail;
    this.extra = extra;
  }
}

/** 404 `404 <what> Not Found`; without a name the bare `404 Not Found`. */
export const notFound = (what?: string) =>
  new DomainError('not-found', what === undefined ? '404 Not Found' : `404 ${what} Not Found`);

type PlaceKind = MemberSource['kind'];

/** As answers and records call what people are members of. */
export const resourceNoun = (kind: PlaceKind): 'Project' | 'Group' =>
  kind === 'project' ? 'Project' : 'Group';

/** That it is not there, or not for whoever asks. */
export const resourceNotFound = ({ kind }: { readonly kind: PlaceKind }) => notFound(resourceNoun(kind));

/** 404 `404 Not found`: a record looked up by id inside something readable. */
export const recordNotFound = () => new DomainError('not-found', '404 Not found');

export const unauthorized = () => new DomainError('unauthorized', '401 Unauthorized');

/** 403 `403 Forbidden`, or `403 Forbidden - <reason>`. */
export const forbidden = (reason?: string) =>
  new DomainError('forbidden', reason === undefined ? '403 Forbidden' : `403 Forbidden - ${reason}`);

/** 400 with a text of its own, as handlers answer broken rules. */
export const refused = (text: string, extra?: Record<string, unknown>) =>
  new DomainError('bad-request', text, extra);

/** 400 `400 Bad request - <reason>`. */
export const badRequest = (reason?: string) =>
  new DomainError('bad-request', reason === undefined ? '400 Bad request' : `400 Bad request - ${reason}`);

/** 400 with problems by field. */
export const invalid = (problems: FieldProblems) => new DomainError('invalid', problems);

export const conflict = (text = '409 Conflict') => new DomainError('conflict', text);

export const notAcceptable = () => new DomainError('not-acceptable', '406 Not Acceptable');

/** 429 with the text one level deeper, as this interface answers a limit of a single action. */
export const tooManyRequests = (text: string) => new DomainError('too-many-requests', { error: text });

export const preconditionFailed = () => new DomainError('precondition-failed', '412 Precondition Failed');

export const tooLarge = (text = '413 Request Entity Too Large') => new DomainError('too-large', text);

export const unprocessable = (text: string | readonly string[]) => new DomainError('unprocessable', text);

export const unavailable = (text = '503 Service Unavailable') => new DomainError('unavailable', text);

/**
 * What a caller may hear of a failure: a rule's own error, or the store's that it is out of reach or asked for a
 * page it does not serve; undefined for everything else.
 */
export function domainErrorOf(error: unknown): DomainError | undefined {
  if (error instanceof DomainError) return error;
  if (!(error instanceof StoreError)) return undefined;
  if (error.code === 'unavailable') return unavailable();
  return error.code === 'bad-page' ? badRequest() : undefined;
}

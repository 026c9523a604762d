import type { OutboundFailure } from './errors.ts';

export type GitRemoteFailure =
  | OutboundFailure
  /** it wants other credentials, or any */
  | 'unauthorized'
  | 'not-found'
  /** an answer of HTTP that is none of the above, or a fatal message of git's */
  | 'refused'
  /** there is something else at this address */
  | 'not-a-repository'
  /** it does not speak as the protocol says, or ended in the middle */
  | 'protocol'
  /** its objects have names of SHA-256 */
  | 'object-format'
  | 'too-many-refs';

export class GitRemoteError extends Error {
  readonly failure: GitRemoteFailure;
  constructor(failure: GitRemoteFailure, cause?: unknown) {
    super(failure, cause === undefined ? {} : { cause });
    this.name = 'GitRemoteError';
    this.failure = failure;
  }
}

import type { OutboundFailure } from './errors.ts';

export type GitRemoteFailure =
  | OutboundFailure
  /** it requires credentials, or other ones */
  | 'unauthorized'
  | 'not-found'
  /** any other HTTP error, or a fatal message of git */
  | 'refused'
  /** the URL is not a Git repository */
  | 'not-a-repository'
  /** it violates the protocol, or its answer was interrupted */
  | 'protocol'
  /** a SHA-256 repository */
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

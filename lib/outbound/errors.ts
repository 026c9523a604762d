/** Why a call to somebody else's server failed; what a caller may be told of it hangs on this alone. */
export type OutboundFailure =
  /** not a URL that may be called at all: scheme, port, or not readable as one */
  | 'bad-url'
  /** no such host, or one that is not on the public internet: which of the two is nobody's business */
  | 'blocked'
  /** no connection, or one that broke */
  | 'unreachable'
  /** no secure connection: its certificate is not valid for the host */
  | 'tls'
  | 'timeout'
  /** more redirects than are followed, or one that leads nowhere */
  | 'redirects'
  | 'too-large';

export class OutboundError extends Error {
  readonly failure: OutboundFailure;
  constructor(failure: OutboundFailure, options: { message?: string; cause?: unknown } = {}) {
    super(options.message ?? failure, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'OutboundError';
    this.failure = failure;
  }
}

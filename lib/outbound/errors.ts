/** Why a call to a foreign server failed. The message for the user depends on this alone. */
export type OutboundFailure =
  /** an invalid URL, or one whose scheme or port is not allowed */
  | 'bad-url'
  /** unknown host, or one that is not on the public internet; the two are not distinguished on purpose */
  | 'blocked'
  /** the connection failed or was interrupted */
  | 'unreachable'
  /** TLS failed: the certificate is not valid for the host */
  | 'tls'
  | 'timeout'
  /** too many redirects, or an invalid one */
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

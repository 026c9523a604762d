export type WireErrorCode =
  /** the length of a packet line is not four hex digits, or not allowed */
  | 'pkt-malformed'
  /** the body ends inside a packet line or before the request is complete */
  | 'truncated'
  /** a line that the protocol does not allow here */
  | 'request-malformed'
  /** a capability, object format or extension that was not advertised */
  | 'unsupported'
  /** a want that no visible ref reaches */
  | 'not-our-ref'
  /** the request exceeds a limit */
  | 'limit'
  /** the content encoding cannot be decoded */
  | 'encoding';

/** A client violated the protocol. `message` is shown to the person at the client's terminal. */
export class WireError extends Error {
  readonly code: WireErrorCode;
  constructor(code: WireErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'WireError';
    this.code = code;
  }
}

export type WireErrorCode =
  /** a packet line's length is not four hex digits, or is one git forbids */
  | 'pkt-malformed'
  /** the body ends inside a packet line or before the request is complete */
  | 'truncated'
  /** a line that the protocol does not allow at this place */
  | 'request-malformed'
  /** a capability, object format or extension that was not advertised */
  | 'unsupported'
  /** a want that no visible ref reaches */
  | 'not-our-ref'
  /** a stated limit on the request is passed */
  | 'limit'
  /** the content encoding does not decode */
  | 'encoding';

/** What a client did wrong on the wire. `message` is written for the person at the client's terminal. */
export class WireError extends Error {
  readonly code: WireErrorCode;
  constructor(code: WireErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'WireError';
    this.code = code;
  }
}

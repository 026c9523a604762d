/** A failure that the real service may show. A rule's `on` is the object's key. */
export type Fault =
  /** Answered with this error; nothing is done. */
  | { kind: 'error'; code: 'InternalError' | 'SlowDown' | 'ConditionalRequestConflict' }
  /** Never answered; nothing is done. The caller sees a timeout after `ms`. */
  | { kind: 'timeout'; ms?: number }
  /** Done, but the connection breaks before the answer. */
  | { kind: 'lostAnswer' }
  /** Done and answered, after `ms`. */
  | { kind: 'latency'; ms: number };

/** A misbehaviour that the real service may show. */
export type Fault =
  /** Answered with this error; nothing is done. */
  | { kind: 'error'; code: 'InternalError' | 'SlowDown' | 'ConditionalRequestConflict' }
  /** Never answered; nothing is done. The caller sees a timeout after `ms`. */
  | { kind: 'timeout'; ms?: number }
  /** Done, but the connection breaks before the answer. */
  | { kind: 'lostAnswer' }
  /** Done and answered, after `ms`. */
  | { kind: 'latency'; ms: number };

/** Which requests a fault befalls. `F` is the set of faults of one service. */
export interface FaultRule<F = Fault> {
  fault: F;
  /** Such as `PutObject`; every operation when absent. */
  operation?: string;
  /** The object's key, or what else the operation is about; anything when absent. */
  on?: string | RegExp;
  /** Matching requests that pass before it strikes; 0 by default. */
  after?: number;
  /** How often it strikes; 1 by default. */
  times?: number;
}

/** Faults waiting for the requests they shall befall. The first rule that matches is the one applied. */
export class Faults<F = Fault> {
  #rules: { rule: FaultRule<F>; passed: number; struck: number }[] = [];

  /** @returns a function that takes the rule back */
  inject(rule: FaultRule<F>): () => void {
    const entry = { rule, passed: 0, struck: 0 };
    this.#rules.push(entry);
    return () => {
      this.#rules = this.#rules.filter((other) => other !== entry);
    };
  }

  clear(): void {
    this.#rules = [];
  }

  /** Consulted once per request. */
  take(operation: string, subject: string | undefined): F | undefined {
    for (const entry of this.#rules) {
      const { operation: only, on, after = 0, times = 1, fault } = entry.rule;
      if (only !== undefined && only !== operation) continue;
      if (on instanceof RegExp ? !on.test(subject ?? '') : on !== undefined && on !== subject) continue;
      if (entry.struck >= times || entry.passed++ < after) continue;
      entry.struck++;
      return fault;
    }
    return undefined;
  }
}

/** A request that gets no answer: what its caller sees is the network's failure, not S3's. */
export class ConnectionFailure extends Error {
  /** `TimeoutError` and ECONNRESET are what the SDK's own transport reports, and retries. */
  readonly code: 'ETIMEDOUT' | 'ECONNRESET';

  constructor(kind: 'timeout' | 'lostAnswer') {
    super(kind === 'timeout' ? 'no answer in time' : 'connection reset before the answer');
    this.name = kind === 'timeout' ? 'TimeoutError' : 'Error';
    this.code = kind === 'timeout' ? 'ETIMEDOUT' : 'ECONNRESET';
  }
}

/** Which requests a fault applies to. `F` is the set of faults of one service. */
export interface FaultRule<F> {
  fault: F;
  /** Such as `PutObject`; every operation when absent. */
  operation?: string;
  /** The object's key, the queue's name, the recipient: see each service. Anything when absent. */
  on?: string | RegExp;
  /** Number of matching requests that pass before the first failure; 0 by default. */
  after?: number;
  /** Number of requests that fail; 1 by default. */
  times?: number;
}

/** Injected faults that wait for matching requests. The first rule that matches is applied. */
export class Faults<F> {
  #rules: { rule: FaultRule<F>; passed: number; applied: number }[] = [];

  /** @returns a function that removes the rule */
  inject(rule: FaultRule<F>): () => void {
    const entry = { rule, passed: 0, applied: 0 };
    this.#rules.push(entry);
    return () => {
      this.#rules = this.#rules.filter((other) => other !== entry);
    };
  }

  clear(): void {
    this.#rules = [];
  }

  /** The fault for a request, if a rule matches it. Call it once per request: it counts. */
  take(operation: string, subject: string | undefined): F | undefined {
    for (const entry of this.#rules) {
      const { operation: only, on, after = 0, times = 1, fault } = entry.rule;
      if (only !== undefined && only !== operation) continue;
      if (on instanceof RegExp ? !on.test(subject ?? '') : on !== undefined && on !== subject) continue;
      if (entry.applied >= times || entry.passed++ < after) continue;
      entry.applied++;
      return fault;
    }
    return undefined;
  }
}

/** A request without an answer: its caller sees a failure of the network, not of the service. */
export class ConnectionFailure extends Error {
  /** `TimeoutError` and ECONNRESET are what the SDK's own transport reports, and retries. */
  readonly code: 'ETIMEDOUT' | 'ECONNRESET';

  constructor(kind: 'timeout' | 'lostAnswer') {
    super(kind === 'timeout' ? 'no answer in time' : 'connection reset before the answer');
    this.name = kind === 'timeout' ? 'TimeoutError' : 'Error';
    this.code = kind === 'timeout' ? 'ETIMEDOUT' : 'ECONNRESET';
  }
}

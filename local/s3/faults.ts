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

export interface FaultRule {
  fault: Fault;
  /** Such as `PutObject`; every operation when absent. */
  operation?: string;
  key?: string | RegExp;
  /** Matching requests that pass before it strikes; 0 by default. */
  after?: number;
  /** How often it strikes; 1 by default. */
  times?: number;
}

/** Faults waiting for the requests they shall befall. The first rule that matches is the one applied. */
export class Faults {
  #rules: { rule: FaultRule; passed: number; struck: number }[] = [];

  /** @returns a function that takes the rule back */
  inject(rule: FaultRule): () => void {
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
  take(operation: string, key: string | undefined): Fault | undefined {
    for (const entry of this.#rules) {
      const { rule } = entry;
      if (rule.operation !== undefined && rule.operation !== operation) continue;
      if (
        rule.key instanceof RegExp ? !rule.key.test(key ?? '') : rule.key !== undefined && rule.key !== key
      ) {
        continue;
      }
      if (entry.struck >= (rule.times ?? 1)) continue;
      if (entry.passed++ < (rule.after ?? 0)) continue;
      entry.struck++;
      return rule.fault;
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

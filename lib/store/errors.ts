/**
 * What can go wrong in the store, as values. The SDK's own exceptions never leave `lib/store`.
 * The domain turns these into its own family where a caller is to be told.
 */
export type StoreErrorCode =
  /** A unique name is held by another owner. */
  | 'taken'
  /** A condition on the present state failed: somebody else was first. */
  | 'refused'
  /** The subject is not there (any more). */
  | 'missing'
  /** The subject is there already. */
  | 'exists'
  /** A count would pass its limit. */
  | 'limit'
  /** The cursor or page asked for cannot be served. */
  | 'bad-page'
  /** The service kept failing; `ambiguous` tells whether the write may have happened. */
  | 'unavailable';

export class StoreError extends Error {
  override readonly name: string = 'StoreError';
  readonly code: StoreErrorCode;
  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** One write's condition failed; `item` is what stood there instead, when anything did. */
export class ConditionFailed extends StoreError {
  override readonly name = 'ConditionFailed';
  readonly item: Readonly<Record<string, unknown>> | undefined;
  constructor(item: Readonly<Record<string, unknown>> | undefined, reason = 'condition') {
    super('refused', `condition failed: ${reason}`);
    this.item = item;
  }
}

/** A failed condition of a transaction: the label its write was given, and what stood there. */
export interface Refusal {
  readonly reason: string;
  readonly item: Readonly<Record<string, unknown>> | undefined;
}

/** Nothing of the transaction was done. */
export class TransactionRefused extends StoreError {
  override readonly name = 'TransactionRefused';
  readonly refusals: readonly Refusal[];
  constructor(refusals: readonly Refusal[]) {
    super('refused', `transaction refused: ${refusals.map((r) => r.reason).join(', ')}`);
    this.refusals = refusals;
  }
  has(reason: string): boolean {
    return this.refusals.some((r) => r.reason === reason);
  }
  get(reason: string): Refusal | undefined {
    return this.refusals.find((r) => r.reason === reason);
  }
}

/** The names that were taken, by what they are names of: `username`, `email`, `path`. */
export class NameTaken extends StoreError {
  override readonly name = 'NameTaken';
  readonly names: readonly string[];
  constructor(names: readonly string[]) {
    super('taken', `taken: ${names.join(', ')}`);
    this.names = names;
  }
}

/** The record changed since it was read, or is gone. */
export class Stale extends StoreError {
  override readonly name = 'Stale';
  constructor(what: string) {
    super('refused', `${what} changed meanwhile`);
  }
}

export class Missing extends StoreError {
  override readonly name = 'Missing';
  constructor(what: string) {
    super('missing', `${what} does not exist`);
  }
}

export class AlreadyExists extends StoreError {
  override readonly name = 'AlreadyExists';
  constructor(what: string) {
    super('exists', `${what} exists already`);
  }
}

/** A group would be left without anybody who owns it. */
export class LastOwner extends StoreError {
  override readonly name = 'LastOwner';
  constructor() {
    super('refused', 'the last owner of a group');
  }
}

export class LimitReached extends StoreError {
  override readonly name = 'LimitReached';
  readonly limit: number;
  constructor(what: string, limit: number) {
    super('limit', `${what}: the limit of ${limit} is reached`);
    this.limit = limit;
  }
}

/** Retries are used up. When `ambiguous`, the answer was lost and the write may or may not have happened. */
export class StoreUnavailable extends StoreError {
  override readonly name = 'StoreUnavailable';
  readonly ambiguous: boolean;
  constructor(ambiguous: boolean, cause: unknown) {
    super('unavailable', ambiguous ? 'the answer of the table was lost' : 'the table is unavailable', {
      cause,
    });
    this.ambiguous = ambiguous;
  }
}

/** So much mail was sent that no more is taken for now; this one was not sent. */
export class MailDelayed extends StoreError {
  override readonly name = 'MailDelayed';
  constructor(cause: unknown) {
    super('unavailable', 'mail delayed', { cause });
  }
}

/** The mail as it stands can never be sent: it is no use to try again. */
export class MailRefused extends StoreError {
  override readonly name = 'MailRefused';
  constructor(cause: unknown) {
    super('refused', 'mail refused', { cause });
  }
}

/**
 * Errors of the store. The SDK's own exceptions never leave `lib/store`.
 * The domain translates these into its own errors where the caller gets to see them.
 */
export type StoreErrorCode =
  /** A unique name is held by another owner. */
  | 'taken'
  /** A condition on the current state failed because of a concurrent write. */
  | 'refused'
  /** The subject does not exist, or no longer. */
  | 'missing'
  /** The subject already exists. */
  | 'exists'
  /** A count would exceed its limit. */
  | 'limit'
  /** The requested cursor or page cannot be served. */
  | 'bad-page'
  /** The service kept failing; `ambiguous` says whether the write may have happened. */
  | 'unavailable';

export class StoreError extends Error {
  override readonly name: string = 'StoreError';
  readonly code: StoreErrorCode;
  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The condition of a single write failed; `item` is the item found there, if any. */
export class ConditionFailed extends StoreError {
  override readonly name = 'ConditionFailed';
  readonly item: Readonly<Record<string, unknown>> | undefined;
  constructor(item: Readonly<Record<string, unknown>> | undefined, reason = 'condition') {
    super('refused', `condition failed: ${reason}`);
    this.item = item;
  }
}

/** A failed condition of a transaction: the `reason` given with its write, and the item found there, if any. */
export interface Refusal {
  readonly reason: string;
  readonly item: Readonly<Record<string, unknown>> | undefined;
}

/** A transaction was rolled back because of failed conditions. */
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

/** Names that are already taken, by their labels: `username`, `email`, `path`, `name`. */
export class NameTaken extends StoreError {
  override readonly name = 'NameTaken';
  readonly names: readonly string[];
  constructor(names: readonly string[]) {
    super('taken', `taken: ${names.join(', ')}`);
    this.names = names;
  }
}

/** The record changed since it was read, or was deleted. */
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

/** The write would leave a group without an owner. */
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

/** Retries are exhausted. When `ambiguous`, the response was lost and the write may or may not have happened. */
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

/** The sending quota is exhausted for now; this mail was not sent. */
export class MailDelayed extends StoreError {
  override readonly name = 'MailDelayed';
  constructor(cause: unknown) {
    super('unavailable', 'mail delayed', { cause });
  }
}

/** The mail was rejected permanently: a retry does not help. */
export class MailRefused extends StoreError {
  override readonly name = 'MailRefused';
  constructor(cause: unknown) {
    super('refused', 'mail refused', { cause });
  }
}

/** For `catch`, where another writer may have been first: ignores a refused condition. @throws any other error */
export function ignoreRefusal(error: unknown): void {
  if ((error as { code?: unknown }).code !== 'refused') throw error;
}

/**
 * Retries of calls to the table. The SDK's own retries are off for DynamoDB (`clients.ts`): they cannot tell a lost
 * response from a failed condition.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { StoreUnavailable } from '../errors.ts';

export interface RetryPolicy {
  readonly attempts: number;
  /** Milliseconds; the n-th wait is a random part of `base * 2^n`, at most `cap`. */
  readonly base: number;
  readonly cap: number;
}

/** About six seconds in total when every attempt fails immediately: well within the gateway's 29. */
export const standardRetries: RetryPolicy = { attempts: 14, base: 15, cap: 900 };

type Failure =
  /** Rejected before anything was written, for a temporary reason: conflict, throttling. */
  | 'transient'
  /** The response was lost: the call may have succeeded. */
  | 'ambiguous'
  /** A retry does not help. */
  | 'final';

/**
 * Runs `attempt` until it succeeds or fails for good.
 * The argument of `attempt` says whether an earlier attempt may have succeeded without a response.
 * @throws StoreUnavailable when all attempts failed; or the error of a final failure.
 */
export async function retrying<T>(
  policy: RetryPolicy,
  attempt: (ambiguousBefore: boolean) => Promise<T>,
): Promise<T> {
  let ambiguous = false;
  for (let n = 0; ; n++) {
    try {
      return await attempt(ambiguous);
    } catch (error) {
      const failure = classify(error);
      if (failure === 'final') throw error;
      ambiguous ||= failure === 'ambiguous';
      if (n + 1 >= policy.attempts) throw new StoreUnavailable(ambiguous, error);
    }
    await sleep(Math.random() * Math.min(policy.cap, policy.base * 2 ** n));
  }
}

// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html
const TRANSIENT = new Set([
  'TransactionConflictException',
  'TransactionInProgressException',
  'ProvisionedThroughputExceededException',
  'ThrottlingException',
  'RequestLimitExceeded',
  'LimitExceededException',
]);
const TRANSIENT_REASONS = new Set([
  'None',
  'TransactionConflict',
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
]);
const TIMEOUTS = new Set(['TimeoutError', 'RequestTimeout', 'RequestTimeoutException', 'AbortError']);
const CONNECTION_ERRORS = new Set([
  'ECONNRESET',
  'ECONNREFUSED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
]);

export interface CancellationReason {
  readonly Code?: string | undefined;
  readonly Message?: string | undefined;
  readonly Item?: Record<string, unknown> | undefined;
}

interface ServiceError {
  readonly name?: string;
  readonly code?: string;
  readonly CancellationReasons?: readonly CancellationReason[];
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly $retryable?: unknown;
}

function classify(error: unknown): Failure {
  if (typeof error !== 'object' || error === null) return 'final';
  const { name = '', code = '', CancellationReasons, $metadata } = error as ServiceError;
  if (TRANSIENT.has(name)) return 'transient';
  if (name === 'TransactionCanceledException') {
    const reasons = CancellationReasons ?? [];
    return reasons.length > 0 && reasons.every((r) => TRANSIENT_REASONS.has(r.Code ?? 'None'))
      ? 'transient'
      : 'final';
  }
  if (TIMEOUTS.has(name) || CONNECTION_ERRORS.has(code)) return 'ambiguous';
  return ($metadata?.httpStatusCode ?? 0) >= 500 ? 'ambiguous' : 'final';
}

/**
 * How calls to the table are repeated. The SDK's own retries are off for DynamoDB (`clients.ts`): they
 * cannot tell a lost answer from a refused condition, and this file can.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { StoreUnavailable } from '../errors.ts';

export interface RetryPolicy {
  readonly attempts: number;
  /** Milliseconds; the n-th wait is a random part of `base * 2^n`, at most `cap`. */
  readonly base: number;
  readonly cap: number;
}

/** About six seconds when every attempt fails at once: within the gateway's 29. */
export const standardRetries: RetryPolicy = { attempts: 14, base: 15, cap: 900 };

type Failure =
  /** Refused before anything was done, for a reason that passes: conflict, throttling. */
  | 'passing'
  /** The answer is missing: it may have been done. */
  | 'ambiguous'
  /** Repeating does not help. */
  | 'final';

/**
 * Runs `attempt` until it succeeds or fails for good.
 * `attempt` is told whether an earlier one may have been done without an answer.
 * @throws StoreUnavailable when the attempts are used up, or the error of a final failure.
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
const PASSING = new Set([
  'TransactionConflictException',
  'TransactionInProgressException',
  'ProvisionedThroughputExceededException',
  'ThrottlingException',
  'RequestLimitExceeded',
  'LimitExceededException',
]);
const PASSING_REASONS = new Set([
  'None',
  'TransactionConflict',
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
]);
const TRANSPORT = new Set(['TimeoutError', 'RequestTimeout', 'RequestTimeoutException', 'AbortError']);
const BROKEN = new Set([
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
  if (PASSING.has(name)) return 'passing';
  if (name === 'TransactionCanceledException') {
    const reasons = CancellationReasons ?? [];
    return reasons.length > 0 && reasons.every((r) => PASSING_REASONS.has(r.Code ?? 'None'))
      ? 'passing'
      : 'final';
  }
  if (TRANSPORT.has(name) || BROKEN.has(code)) return 'ambiguous';
  return ($metadata?.httpStatusCode ?? 0) >= 500 ? 'ambiguous' : 'final';
}

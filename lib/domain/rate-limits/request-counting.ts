/** Enforces the throttles of the instance settings; requests are counted in the table. */
import { type RateLimits, windowOf } from '../../store/rate-limits/rate-limits.ts';
import { annotate } from '../../telemetry/correlation.ts';
import { log } from '../../telemetry/log.ts';
import type { Credential } from '../actor.ts';
import type { InstanceSettings, Settings } from '../settings/current.ts';
import {
  type Caller,
  subjectOf,
  type Throttle,
  Throttled,
  type ThrottledRequest,
  throttlesOf,
} from './throttles.ts';

/** The admission of one request. It is counted once, for the first caller that is named. */
export interface Admission {
  /** The unauthenticated caller: the IP address. */
  readonly stranger: Caller;
  /** Whether this process already knows that a limit is exhausted: then wait for `admit` before reading anything. */
  isFull(caller: Caller): boolean;
  /** Counts the request. @throws Throttled */
  admit(caller: Caller): Promise<void>;
  /** Counts a request that failed before its credential was checked. @throws Throttled */
  settle(credential: Credential): Promise<void>;
}

export interface AdmissionPort {
  begin(asked: ThrottledRequest, address: string): Admission;
}

export interface CountingDeps {
  readonly settings: Pick<Settings, 'current'>;
  readonly counts: Pick<RateLimits, 'count'>;
  readonly now: () => Date;
  /** Returns the owner of a credential; undefined if it is invalid. */
  readonly callerOf: (credential: Exclude<Credential, { kind: 'none' }>) => Promise<Caller | undefined>;
}

/** Maximum number of exhausted callers remembered by a process. */
const MAX_SUBJECTS = 10_000;
/** Minimum interval between warnings about requests that were not counted. */
const WARNING_INTERVAL_MS = 10_000;
const RETRY_LATER = 'Retry later';

interface Exhausted {
  readonly window: number;
  readonly seconds: number;
  /** The count in the table. */
  readonly counted: number;
  /** Requests refused since then, without a write. */
  refused: number;
}

/** The admissions of one process. It learns of requests to other processes when it counts one itself. */
export class Admissions implements AdmissionPort {
  readonly #needs: CountingDeps;
  /** By subject and throttle; the oldest first. */
  readonly #exhausted = new Map<string, Map<string, Exhausted>>();
  #warnedAt = 0;

  constructor(needs: CountingDeps) {
    this.#needs = needs;
  }

  begin(asked: ThrottledRequest, address: string): Admission {
    const stranger: Caller = { kind: 'address', address };
    let admitted: Promise<void> | undefined;
    const admit = (caller: Caller): Promise<void> => (admitted ??= this.#admit(asked, caller));
    return {
      stranger,
      isFull: (caller) => this.#exhausted.size > 0 && this.#isFull(subjectOf(caller)),
      admit,
      settle: async (credential) => {
        if (admitted !== undefined || credential.kind === 'none') return admit(stranger);
        // If no throttle can apply, the credential need not be looked up.
        const settings = await this.#settings();
        const candidates: Caller[] = [stranger, { kind: 'user', id: 0 }];
        if (
          settings === undefined ||
          candidates.every((caller) => throttlesOf(settings, asked, caller).length === 0)
        )
          return;
        const caller = await this.#needs.callerOf(credential).catch(() => undefined);
        return admit(caller ?? stranger);
      },
    };
  }

  async #admit(asked: ThrottledRequest, caller: Caller): Promise<void> {
    const settings = await this.#settings();
    const throttles = settings === undefined ? [] : throttlesOf(settings, asked, caller);
    if (settings === undefined || throttles.length === 0) return;
    const now = this.#needs.now();
    const subject = subjectOf(caller);
    const observed = await Promise.all(throttles.map((throttle) => this.#observe(throttle, subject, now)));
    const refused = throttles.findIndex((throttle, i) => observed[i]! > throttle.limit);
    if (refused < 0) return;
    const text = settings.rate_limiting_response_text || RETRY_LATER;
    annotate({ throttle: throttles[refused]!.name });
    throw new Throttled(throttles[refused]!, observed[refused]!, now, text);
  }

  /** The number of requests in this window, including this one; 0 if it cannot be counted. */
  async #observe({ name, limit, seconds }: Throttle, subject: string, now: Date): Promise<number> {
    const window = windowOf(seconds, now);
    const known = this.#exhausted.get(subject)?.get(name);
    if (known?.window === window && known.seconds === seconds && known.counted >= limit)
      return known.counted + ++known.refused;
    try {
      const counted = await this.#needs.counts.count({ kind: name, seconds }, subject, now);
      if (counted >= limit) this.#remember(subject, name, { window, seconds, counted, refused: 0 });
      return counted;
    } catch (error) {
      return this.#warn(error) ?? 0;
    }
  }

  #remember(subject: string, name: string, exhausted: Exhausted): void {
    const throttles = this.#exhausted.get(subject) ?? new Map<string, Exhausted>();
    const known = throttles.get(name);
    // Responses may arrive out of order.
    if (known?.window === exhausted.window && known.counted >= exhausted.counted) return;
    throttles.set(name, exhausted);
    this.#exhausted.delete(subject);
    this.#exhausted.set(subject, throttles);
    for (const oldest of this.#exhausted.keys()) {
      if (this.#exhausted.size <= MAX_SUBJECTS) break;
      this.#exhausted.delete(oldest);
    }
  }

  #isFull(subject: string): boolean {
    const now = this.#needs.now();
    for (const { window, seconds } of this.#exhausted.get(subject)?.values() ?? [])
      if (window === windowOf(seconds, now)) return true;
    return false;
  }

  /** Undefined if the settings cannot be read: then no throttle applies. */
  #settings(): Promise<InstanceSettings | undefined> {
    return this.#needs.settings.current().catch((error) => this.#warn(error));
  }

  /** Fails open: requests that cannot be counted are admitted, so that an overloaded table does not close the instance. */
  #warn(error: unknown): undefined {
    const now = Date.now();
    if (now - this.#warnedAt < WARNING_INTERVAL_MS) return;
    this.#warnedAt = now;
    log('warn', 'requests not counted', { cause: String(error) });
  }
}

/**
 * Runs reads while the request is counted. A refusal takes precedence over other errors; if it is known already,
 * nothing is read.
 */
export async function whileCounted<T>(
  admission: Admission | undefined,
  caller: Caller | undefined,
  read: () => Promise<T>,
): Promise<T> {
  if (admission === undefined || caller === undefined) return read();
  const counted = admission.admit(caller);
  counted.catch(() => {});
  if (admission.isFull(caller)) await counted;
  try {
    return await read();
  } finally {
    await counted;
  }
}

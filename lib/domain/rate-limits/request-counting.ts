/** Lets requests in as often as the throttles of the settings allow it, counted in the table. */
import { type RateLimits, windowOf } from '../../store/rate-limits/rate-limits.ts';
import { annotate } from '../../telemetry/correlation.ts';
import { log } from '../../telemetry/log.ts';
import type { Credential } from '../actor.ts';
import type { InstanceSettings, Settings } from '../settings/current.ts';
import { type Asked, type Caller, subjectOf, type Throttle, Throttled, throttlesOf } from './throttles.ts';

/** How one request is let in. It is counted once, against whoever is named first. */
export interface Admission {
  /** Nobody who is known. */
  readonly stranger: Caller;
  /** Whether this process knows already that the caller has no more: then `admit` answers before anything is read. */
  isFull(caller: Caller): boolean;
  /** Counts the request. @throws Throttled */
  admit(caller: Caller): Promise<void>;
  /** Counts a request that failed before anybody was asked who they are. @throws Throttled */
  settle(credential: Credential): Promise<void>;
}

export interface AdmissionPort {
  begin(asked: Asked, address: string): Admission;
}

export interface Needs {
  readonly settings: Pick<Settings, 'current'>;
  readonly counts: Pick<RateLimits, 'count'>;
  readonly now: () => Date;
  /** Whose a credential is; undefined when it is not good. */
  readonly callerOf: (credential: Exclude<Credential, { kind: 'none' }>) => Promise<Caller | undefined>;
}

/** Of whom it is known that they have no more. */
const MAX_SUBJECTS = 10_000;
/** A warning says that more was not counted. */
const TOLD_MS = 10_000;
const RETRY_LATER = 'Retry later';

interface Exhausted {
  readonly window: number;
  readonly seconds: number;
  /** In the table. */
  readonly counted: number;
  /** Turned away since, without a write. */
  refused: number;
}

/** Of one process: what others counted it learns when it counts itself. */
export class Admissions implements AdmissionPort {
  readonly #needs: Needs;
  /** By subject and throttle; the oldest first. */
  readonly #exhausted = new Map<string, Map<string, Exhausted>>();
  #toldAt = 0;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  begin(asked: Asked, address: string): Admission {
    const stranger: Caller = { kind: 'address', address };
    let admitted: Promise<void> | undefined;
    const admit = (caller: Caller): Promise<void> => (admitted ??= this.#admit(asked, caller));
    return {
      stranger,
      isFull: (caller) => this.#exhausted.size > 0 && this.#isFull(subjectOf(caller)),
      admit,
      settle: async (credential) => {
        if (admitted !== undefined || credential.kind === 'none') return admit(stranger);
        // Without a throttle that could count it, nobody need know whose it is.
        const settings = await this.#settings();
        const either: Caller[] = [stranger, { kind: 'user', id: 0 }];
        if (
          settings === undefined ||
          either.every((caller) => throttlesOf(settings, asked, caller).length === 0)
        )
          return;
        const caller = await this.#needs.callerOf(credential).catch(() => undefined);
        return admit(caller ?? stranger);
      },
    };
  }

  async #admit(asked: Asked, caller: Caller): Promise<void> {
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

  /** How many requests there were in this window, with this one; 0 when nobody can say. */
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
      return this.#missed(error) ?? 0;
    }
  }

  #remember(subject: string, name: string, exhausted: Exhausted): void {
    const throttles = this.#exhausted.get(subject) ?? new Map<string, Exhausted>();
    const known = throttles.get(name);
    // Answers overtake each other.
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

  /** Undefined when they cannot be read: then nobody knows of a throttle. */
  #settings(): Promise<InstanceSettings | undefined> {
    return this.#needs.settings.current().catch((error) => this.#missed(error));
  }

  /** What cannot be counted is let in: a table that is busy must not become an instance that is closed. */
  #missed(error: unknown): undefined {
    const now = Date.now();
    if (now - this.#toldAt < TOLD_MS) return;
    this.#toldAt = now;
    log('warn', 'requests not counted', { cause: String(error) });
  }
}

/**
 * Reads while a request is counted. A refusal comes before whatever else is wrong, and where it is known already,
 * before anything is read.
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

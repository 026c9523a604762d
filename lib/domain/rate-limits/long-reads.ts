/**
 * Limits how many long reads of repositories run at once, of one caller and of one project. A read is long when the Git
 * engine has worked on it for a second, or knows before that it will. It then takes a place of its caller and one of
 * its project; other reads cost nothing.
 */
import { currentWatch, TURN_MS, underWatch, type WorkWatch } from '../../git/work.ts';
import { PLACE_MS, type Place } from '../../store/rate-limits/read-places.ts';
import { readingOnce } from '../../store/table/read-once.ts';
import { annotate } from '../../telemetry/correlation.ts';
import { log } from '../../telemetry/log.ts';
import type { Deps } from '../deps.ts';
import { tooManyRequests } from '../errors.ts';
import { started } from '../started.ts';
import { type Caller, subjectOf } from './throttles.ts';

/** Milliseconds of work after which a read is long. */
const LONG_MS = 1_000;
/** Seconds after which a refused caller may try again: many reads are done by then. */
const RETRY_SECONDS = 15;

const TOO_MANY = 'Too many long reads at once. Try again later.';

/** Who reads what. */
interface Reader {
  readonly deps: Pick<Deps, 'store' | 'environment' | 'now'>;
  readonly caller: Caller;
  readonly projectId: number;
}

/** One request that changes nothing. */
export class LongRead implements WorkWatch {
  readonly signal: AbortSignal | undefined;
  #reader: Reader | undefined;
  #worked = 0;
  #since = performance.now();
  #admitted: Promise<void> | undefined;
  #places: readonly Place[] = [];
  #renewed = 0;
  #renewing: Promise<void> = Promise.resolve();
  #ended = false;

  /** @param signal ends the work */
  constructor(signal?: AbortSignal) {
    this.signal = signal;
  }

  run<T>(work: () => T): T {
    return readingOnce(() => underWatch(this, work));
  }

  /** To be called once the caller may read the project: nobody else learns how much is read in it. */
  isBy(reader: Reader): void {
    this.#reader = reader;
  }

  /** @throws 429 */
  rests(): Promise<void> | undefined {
    if (this.#admitted !== undefined) return this.admitsLong();
    // A pause of the process, or of a reader of its answer, is not this work's.
    this.#worked += Math.min(TURN_MS, performance.now() - this.#since);
    return this.#worked < LONG_MS ? undefined : this.admitsLong();
  }

  goesOn(): void {
    this.#since = performance.now();
  }

  /** @throws 429 */
  admitsLong(): Promise<void> {
    if (this.#reader === undefined || this.#ended) return Promise.resolve();
    if (this.#admitted === undefined) this.#admitted = started(this.#take(this.#reader));
    else this.#renew();
    return this.#admitted;
  }

  /** To be called when the answer has ended, or never will: frees the places. */
  async end(): Promise<void> {
    this.#ended = true;
    await Promise.allSettled([this.#admitted, this.#renewing]);
    await this.#leave();
  }

  async #take({ deps, caller, projectId }: Reader): Promise<void> {
    const { store, environment, now } = deps;
    const { user, address, project } = environment.longReads;
    const stranger = caller.kind === 'address';
    const limits = [
      { of: caller.kind, subject: subjectOf(caller), count: stranger ? address : user },
      // Strangers have half of a project's places, so that they do not keep out others.
      { of: 'project', subject: `project ${projectId}`, count: stranger ? Math.ceil(project / 2) : project },
    ].filter(({ count }) => count > 0);
    const taking = limits.map(({ subject, count }) => store.readPlaces.take(subject, count, now()));
    const taken = await Promise.allSettled(taking);
    this.#places = taken.flatMap((one) => (one.status === 'fulfilled' && one.value ? [one.value] : []));
    this.#renewed = performance.now();
    // As throttles do: an overloaded table must not stop reads.
    for (const one of taken) if (one.status === 'rejected') notCounted(one.reason);
    const full = taken.findIndex((one) => one.status === 'fulfilled' && one.value === undefined);
    if (full < 0) return;
    await this.#leave();
    annotate({ limit: `long reads of one ${limits[full]!.of}` });
    throw tooManyRequests(TOO_MANY, RETRY_SECONDS);
  }

  /**
   * Places are renewed by work alone: an answer that waits for its reader holds none after a while. One that another
   * caller has taken is not taken again: what was answered cannot be taken back.
   */
  #renew(): void {
    const reader = this.#reader;
    const now = performance.now();
    if (reader === undefined || this.#places.length === 0 || now - this.#renewed < PLACE_MS / 2) return;
    this.#renewed = now;
    const { deps } = reader;
    this.#renewing = Promise.all(
      this.#places.map((place) => deps.store.readPlaces.renew(place, deps.now())),
    ).then((renewed) => {
      this.#places = renewed.filter((place) => place !== undefined);
    }, notCounted);
  }

  async #leave(): Promise<void> {
    const places = this.#places;
    this.#places = [];
    const { readPlaces } = this.#reader?.deps.store ?? {};
    const left = await Promise.allSettled(places.map((place) => readPlaces?.leave(place)));
    for (const one of left) if (one.status === 'rejected') notCounted(one.reason);
  }
}

/** Tells the read under way who reads what, if it is one whose length is limited. */
export function readsAs(deps: Reader['deps'], caller: Caller, projectId: number): void {
  const watch = currentWatch();
  if (watch instanceof LongRead) watch.isBy({ deps, caller, projectId });
}

const notCounted = (cause: unknown) => log('warn', 'long read not counted', { cause: String(cause) });

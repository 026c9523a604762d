export interface AdmissionOptions {
  /** Requests that are served at the same time. */
  readonly atOnce: number;
  /** While the first in the queue has waited longer than this, in milliseconds, nobody else joins. */
  readonly patience: number;
  /** So long a request keeps its turn, in milliseconds: a slow client, or a long transfer, then takes none any more. */
  readonly turn: number;
  /** Requests that wait, at most. */
  readonly waiting: number;
}

/**
 * Decides which requests are served now, which wait for their turn, and which are told at once to come later: more at a
 * time would make all of them late, and a longer queue only those who no longer wait for the answer.
 */
export class Admission {
  readonly #options: AdmissionOptions;
  readonly #queue: Waiter[] = [];
  #served = 0;

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  /** Whether a request that comes now is told to come later. */
  get full(): boolean {
    const [first] = this.#queue;
    if (first === undefined) return false;
    const { patience, waiting } = this.#options;
    return this.#queue.length >= waiting || performance.now() - first.since > patience;
  }

  /**
   * Waits for a turn.
   * @param gone aborted when the client no longer waits
   * @returns what ends the turn, which may be called more than once; undefined for a request that is not served
   */
  async enter(gone: AbortSignal): Promise<(() => void) | undefined> {
    if (this.full || gone.aborted) return undefined;
    if (this.#served >= this.#options.atOnce) {
      const waiter: Waiter = { since: performance.now(), ...Promise.withResolvers<boolean>() };
      this.#queue.push(waiter);
      const leave = () => {
        const place = this.#queue.indexOf(waiter);
        if (place >= 0) this.#queue.splice(place, 1);
        waiter.resolve(false);
      };
      gone.addEventListener('abort', leave, { once: true });
      // Its turn was counted by the one that gave it, so that nobody comes in between.
      const mine = await waiter.promise;
      gone.removeEventListener('abort', leave);
      if (!mine) return undefined;
    } else this.#served += 1;
    return this.#turn();
  }

  #turn(): () => void {
    let over = false;
    const end = () => {
      if (over) return;
      over = true;
      clearTimeout(late);
      const next = this.#queue.shift();
      if (next === undefined) this.#served -= 1;
      else next.resolve(true);
    };
    const late = setTimeout(end, this.#options.turn);
    return end;
  }
}

interface Waiter {
  /** Of `performance.now()`. */
  readonly since: number;
  readonly promise: Promise<boolean>;
  resolve(mine: boolean): void;
}

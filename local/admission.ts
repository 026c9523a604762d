export interface AdmissionOptions {
  /** Requests that are served at the same time. */
  readonly atOnce: number;
  /** While the first in the queue has waited longer than this, in milliseconds, nobody else joins. */
  readonly patience: number;
  /** So long a request keeps its turn, in milliseconds: a slow client, or a long transfer, then takes none any more. */
  readonly turn: number;
  /**
   * Requests whose turn is over and that still wait for their answer, at most: with more of them the service is behind, and
   * turns last until they end.
   */
  readonly late: number;
  /** So long a request waits for its turn at most, in milliseconds. */
  readonly longest: number;
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
  /** Of those whose turn is over: whether they wait for their answer. */
  readonly #late = new Set<() => boolean>();
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
   * @param waits whether it waits for its answer alone, once its turn is over: neither for the client's body nor for its reading
   * @returns what ends the turn, which may be called more than once; undefined for a request that is not served
   */
  async enter(gone: AbortSignal, waits: () => boolean = () => false): Promise<(() => void) | undefined> {
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
      const tooLong = setTimeout(leave, this.#options.longest);
      // Its turn was counted by the one that gave it, so that nobody comes in between.
      const mine = await waiter.promise;
      clearTimeout(tooLong);
      gone.removeEventListener('abort', leave);
      if (!mine) return undefined;
    } else this.#served += 1;
    return this.#turn(waits);
  }

  #turn(waits: () => boolean): () => void {
    let over = false;
    const pass = () => {
      if (over) return;
      over = true;
      clearTimeout(late);
      const next = this.#queue.shift();
      if (next === undefined) this.#served -= 1;
      else next.resolve(true);
    };
    const late = setTimeout(() => {
      if (waits()) {
        const behind = [...this.#late].filter((still) => still()).length;
        if (behind >= this.#options.late) {
          late.refresh();
          return;
        }
        this.#late.add(waits);
      }
      pass();
    }, this.#options.turn);
    return () => {
      this.#late.delete(waits);
      pass();
    };
  }
}

interface Waiter {
  /** Of `performance.now()`. */
  readonly since: number;
  readonly promise: Promise<boolean>;
  resolve(mine: boolean): void;
}

import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate } from 'node:timers';

/**
 * How the engine shares a process: every loop over what users pushed yields to the event loop by time ({@link Pace}), and
 * ends beyond its limits ({@link LimitExceeded}).
 */

/** Milliseconds of work per turn of the event loop: a step too long and a collection of garbage still fit in 50. */
export const TURN_MS = 10;

/** A caller of the engine: each of the engine's tasks for one caller has one of its own. */
export interface WorkWatch {
  /** The work ends with its reason where the engine yields. */
  readonly signal?: AbortSignal | undefined;
  /** The engine yields after a turn of work. What this throws ends the work. */
  rests?(): Promise<void> | undefined;
  /** The work goes on after {@link rests}. */
  goesOn?(): void;
  /** Much work is ahead, and nothing was answered yet. What this throws refuses it. */
  admitsLong?(): Promise<void>;
}

const watches = new AsyncLocalStorage<WorkWatch>();

/** Runs work that the watch may end. */
export const underWatch = <T>(watch: WorkWatch, work: () => T): T => watches.run(watch, work);

/** The watch under which the current code runs. */
export const currentWatch = (): WorkWatch | undefined => watches.getStore();

/** @throws the reason of the signal under which this work runs, once it is aborted */
export const throwIfAbandoned = (): void => watches.getStore()?.signal?.throwIfAborted();

/** To be called before work that is known to be long. @throws what the watch refuses it with */
export const beforeLongWork = async (): Promise<void> => watches.getStore()?.admitsLong?.();

/** Lets other work of the process run. @throws what ends this work: see {@link WorkWatch} */
export async function nextTurn(): Promise<void> {
  const watch = watches.getStore();
  const permission = watch?.rests?.();
  const turn = new Promise<void>((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(goOn);
  });
  await (permission === undefined ? turn : Promise.all([turn, permission]));
  watch?.signal?.throwIfAborted();
  watch?.goesOn?.();
}

/** Work that waits for its turn, in order. */
const waiting: (() => void)[] = [];

/** One at a time: others would make the same turn of the event loop as many times longer. */
function goOn(): void {
  turnBegan = -1;
  waiting.shift()!();
  if (waiting.length > 0) setImmediate(goOn);
}

let turnBegan = -1;

/** When this turn of the event loop began: at the first call in it. */
function beginningOfTurn(): number {
  if (turnBegan < 0) {
    turnBegan = performance.now();
    setImmediate(() => {
      turnBegan = -1;
    });
  }
  return turnBegan;
}

/**
 * Whether this turn of the event loop has taken its time: a chain of promises that wait for nothing is one turn, however
 * many they are.
 */
export const turnIsOver = (): boolean => performance.now() - beginningOfTurn() >= TURN_MS;

/**
 * Yields to other work of the process by time, as sizes and numbers of steps say little about it. What was done before in the
 * same turn of the event loop counts too.
 */
export class Pace {
  #since = beginningOfTurn();

  /** Whether it is time to {@link rest}. Cheap enough for every step of a microsecond. */
  due(): boolean {
    return performance.now() - this.#since >= TURN_MS;
  }

  /** Goes on after a wait that may have let others work. */
  begin(): void {
    this.#since = beginningOfTurn();
  }

  /** @throws what ends the work when it may not go on: see {@link WorkWatch} */
  async rest(signal?: AbortSignal): Promise<void> {
    await nextTurn();
    signal?.throwIfAborted();
    this.begin();
  }
}

/** Work that stops now and then, to be continued: by {@link atOnce}, or by {@link inTurns} beside other work. */
export type Steps<T> = Generator<void, T, void>;

/** Does all of it now. For what is known to be little, and for tests. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** @throws what ends the work: see {@link WorkWatch} */
export async function inTurns<T>(steps: Steps<T>, signal?: AbortSignal): Promise<T> {
  const pace = new Pace();
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    if (pace.due()) await pace.rest(signal);
  }
}

/** Counts work, and says when it is time for a stop of {@link Steps}: about every millisecond. */
export class Effort {
  #left = EFFORT;

  /** @param work comparisons of numbers, or bytes looked at */
  spend(work: number): boolean {
    this.#left -= work;
    if (this.#left > 0) return false;
    this.#left = EFFORT;
    return true;
  }
}

/** Comparisons of a millisecond. */
const EFFORT = 250_000;

/** An answer would take more work than one request may cause. `message` may be shown to the caller. */
export class LimitExceeded extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'LimitExceeded';
  }
}

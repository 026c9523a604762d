import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as immediate } from 'node:timers';
import { setImmediate } from 'node:timers/promises';

/**
 * How the engine shares a process: every loop over what users pushed yields to the event loop by time ({@link Pace}), and
 * ends beyond its limits ({@link LimitExceeded}).
 */

/** Milliseconds of work per turn of the event loop. */
const TURN_MS = 20;

const signals = new AsyncLocalStorage<AbortSignal>();

/** Runs work that ends with the signal's reason where the engine yields: nobody waits for its result any more. */
export const underSignal = <T>(signal: AbortSignal, work: () => T): T => signals.run(signal, work);

/** @throws the reason of the signal under which this work runs, once it is aborted */
export const throwIfAbandoned = (): void => signals.getStore()?.throwIfAborted();

/** Lets other work of the process run. @throws the signal's reason when this work was abandoned: see {@link underSignal} */
export async function nextTurn(): Promise<void> {
  await setImmediate();
  throwIfAbandoned();
}

let turnBegan = -1;

/**
 * Whether this turn of the event loop has taken its time: a chain of promises that wait for nothing is one turn, however
 * many they are. Counts from the first call in a turn.
 */
export function turnIsOver(): boolean {
  const now = performance.now();
  if (turnBegan >= 0) return now - turnBegan >= TURN_MS;
  turnBegan = now;
  immediate(() => {
    turnBegan = -1;
  });
  return false;
}

/** Yields to other work of the process by time, as sizes and numbers of steps say little about it. */
export class Pace {
  #since = performance.now();

  /** Whether it is time to {@link rest}. Cheap enough for every step of a microsecond. */
  due(): boolean {
    return performance.now() - this.#since >= TURN_MS;
  }

  /** Starts a turn, after a wait that has let others work. */
  begin(): void {
    this.#since = performance.now();
  }

  /** @throws the signal's reason when the work was abandoned: see {@link underSignal} */
  async rest(signal?: AbortSignal): Promise<void> {
    await nextTurn();
    signal?.throwIfAborted();
    this.#since = performance.now();
  }
}

/** An answer would take more work than one request may cause. `message` may be shown to the caller. */
export class LimitExceeded extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'LimitExceeded';
  }
}

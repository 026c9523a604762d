import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** What gives up what nobody used since it was asked last. */
export interface Cache {
  /** @returns bytes */
  dropUnused(): number;
}

/** Bytes that are worth a collection of garbage, which takes about 50 ms. */
const WORTH_BYTES = 16 * 2 ** 20;

/**
 * Gives memory back to the system that was not used since the last time. Functions in Lambda do not: there no time passes
 * between two requests.
 * @param options.worth bytes that are worth a collection of garbage
 */
export function giveBackUnused(
  cache: Cache,
  { collect = collectGarbage, worth = WORTH_BYTES }: { collect?: () => void; worth?: number } = {},
): void {
  if (cache.dropUnused() >= worth) collect();
}

/** What was dropped is freed by a collection alone, and a thread that has nothing to do begins none. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

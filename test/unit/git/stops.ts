import { vi } from 'vitest';
import { nextTurn, TURN_MS, underWatch } from '../../../lib/git/work.ts';

/** How often work of the engine may yield: as if each of its turns were over at once. */
export async function stopsOf(work: () => Promise<unknown>): Promise<number> {
  let now = Math.ceil(performance.now());
  let stops = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += TURN_MS));
  try {
    await underWatch({ rests: () => void stops++ }, work);
  } finally {
    clock.mockRestore();
    await nextTurn();
  }
  return stops;
}

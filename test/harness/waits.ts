import type { Host } from '../../local/host.ts';
import { type AwsCall, interpose } from './aws-calls.ts';

type Service = AwsCall['service'];

/**
 * What a piece of work waits for, one after the other: a call that begins when others have ended waited for these. Unlike
 * `RoundTrips` it lets calls run as they come, which takes no time; of several chains side by side it may count a step more.
 */
export class Waits {
  /** Services that were called in each step. */
  #steps: Set<Service>[] = [];
  /** How many steps have ended. */
  #ended = 0;

  static of(host: Host): Waits {
    const waits = new Waits();
    interpose(host, async ({ service }, send) => {
      const step = waits.#ended;
      (waits.#steps[step] ??= new Set()).add(service);
      // All that is called at once begins before any of it ends.
      await new Promise(setImmediate);
      try {
        return await send();
      } finally {
        waits.#ended = Math.max(waits.#ended, step + 1);
      }
    });
    return waits;
  }

  /** @returns the services of each step */
  async of(work: () => Promise<unknown>): Promise<readonly ReadonlySet<Service>[]> {
    [this.#steps, this.#ended] = [[], 0];
    await work();
    return this.#steps.filter((step) => step !== undefined);
  }
}

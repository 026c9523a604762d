import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { deps } from '../../functions/deps.ts';
import type { Host } from '../../local/host.ts';
import { storeOf } from '../harness/world.ts';

/** What is superseded on one day may be deleted on the next. */
const DAY = 25 * 3600_000;
/** How many repositories are maintained: the oldest ones, which have most writes. */
const REPOSITORIES = 5;

/** The time by the clock that {@link SimulatedClock} left behind; without one the real time. */
export const simulatedNow = (dataDir: string): number => Date.now() + dayOf(`${dataDir}.clock`) * DAY;

const dayOf = (file: string): number => (existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0);

/** The clock of a running service, moved on a day at a time. Its day is stored, so that it survives restarts. */
export class SimulatedClock {
  readonly #host: Host;
  readonly #file: string;
  #day: number;

  constructor(host: Host, dataDir: string) {
    this.#host = host;
    this.#file = `${dataDir}.clock`;
    this.#day = dayOf(this.#file);
    Object.assign(deps(), { now: () => new Date(Date.now() + this.#day * DAY) });
  }

  nextDay(): void {
    writeFileSync(this.#file, String(++this.#day));
  }

  /** @throws Error when one of the repositories cannot be maintained */
  async maintain(repositories: readonly string[]): Promise<void> {
    for (const repositoryId of repositories) {
      const body = { repositoryId, collect: true, refs: true };
      const message = { id: `${repositoryId}-${this.#day}`, type: 'repository.maintain', body };
      const attributes = { ApproximateReceiveCount: '1' };
      const Records = [{ messageId: message.id, body: JSON.stringify(message), attributes }];
      const { batchItemFailures } = (await this.#host.invoke('maintenance', { Records })) as {
        batchItemFailures: readonly unknown[];
      };
      if (batchItemFailures.length > 0)
        throw new Error(`day ${this.#day}: ${repositoryId} could not be maintained`);
    }
  }
}

/** Returns the ids of the oldest repositories. */
export async function oldestRepositories(): Promise<readonly string[]> {
  const found: string[] = [];
  for (let id = 1; found.length < REPOSITORIES && id < 100; id++) {
    const project = await storeOf().projects.get(id);
    if (project !== undefined) found.push(project.repositoryId);
  }
  return found;
}

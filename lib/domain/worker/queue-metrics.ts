import { type QueueCounts, queueCounts } from '../../store/outbox/queue-counts.ts';
import type { Deps } from '../deps.ts';

/** Of dead letters: one queue of all on AWS, one of each on the embedded host. */
const DEAD = /(^|-)dead$/;

export interface WorkMetrics {
  /** Messages that wait, by queue. */
  readonly backlogs: ReadonlyMap<string, number>;
  /** Messages that wait, are under way or were sent for later. */
  readonly enqueued: number;
  /** Messages that were given up. */
  readonly dead: number;
}

/** How much work waits for the workers. */
export async function workMetrics({ store }: Pick<Deps, 'store'>): Promise<WorkMetrics> {
  const counts = [...(await queueCounts(store.environment.countedQueueUrls))];
  const all = ({ waiting, underWay, delayed }: QueueCounts) => waiting + underWay + delayed;
  const sum = (of: typeof counts) => of.reduce((total, [, each]) => total + all(each), 0);
  const living = counts.filter(([name]) => !DEAD.test(name));
  return {
    backlogs: new Map(living.map(([name, { waiting }]) => [name, waiting])),
    enqueued: sum(living),
    dead: sum(counts.filter(([name]) => DEAD.test(name))),
  };
}

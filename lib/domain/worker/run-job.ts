import { safeParse, type ZodMiniType } from 'zod/mini';
import { message, messageAt, outboxWrite } from '../../store/outbox/outbox.ts';
import type { Deps } from '../deps.ts';
import type { Job, JobContext, JobDefinition, JobOutcome } from '../job.ts';

/** Time slice of one job. A worker has time for its whole batch: `test/unit/worker/batches.test.ts`. */
export const SLICE_MS = 45_000;

/** What a run of a worker has where nothing says when it ends: as long as a function at most. */
const RUN_MS = 900_000;

/** As of {@link JobContext}. */
export interface Delivery {
  readonly lastDelivery?: boolean;
  readonly stopsAt?: number;
}

/**
 * What runs the jobs of a queue.
 * @returns a function that runs the job of one message and enqueues what is left of it. It throws what went wrong:
 *   then the message is delivered again
 * @throws Error when two jobs have the same name
 */
export function jobRunner<D extends Pick<Deps, 'store' | 'now'>>(
  queue: string,
  jobs: readonly JobDefinition<unknown, D>[],
): (deps: D, job: Job, delivery?: Delivery) => Promise<void> {
  const read = jobReader(jobs);
  return async (deps, job, { lastDelivery = false, stopsAt = Date.now() + RUN_MS } = {}) => {
    const { name, run } = read(job);
    const outcome = await run(deps, {
      messageId: job.id,
      lastDelivery,
      deadline: Date.now() + SLICE_MS,
      stopsAt,
    });
    if (outcome === undefined || outcome === true) return;
    await enqueueRest(queue, deps, { ...job, type: name }, outcome || {});
  };
}

async function enqueueRest(
  queue: string,
  { store, now }: Pick<Deps, 'store' | 'now'>,
  { type, body }: Job,
  rest: Extract<JobOutcome, object>,
): Promise<void> {
  const next = rest.body === undefined ? body : { ...rest.body };
  if (rest.delayMs === undefined) return store.outbox.commit([], [message(queue, type, next)]);
  const at = new Date(now().getTime() + rest.delayMs);
  await store.table.put(outboxWrite(messageAt(queue, type, next, at)));
}

/** The job of a message. */
export interface ReadJob<D> {
  /** As new messages name it. */
  readonly name: string;
  /** Runs it with the message's body. */
  run(deps: D, context: JobContext): Promise<JobOutcome>;
}

/**
 * What finds the job of a message by its name or a former name, and checks the message's body.
 * @returns a function that throws an Error for a name that no job has, and for a body that the job's schema refuses:
 *   that one names the job and each field
 * @throws Error when two jobs have the same name
 */
export function jobReader<D>(jobs: readonly JobDefinition<unknown, D>[]): (job: Job) => ReadJob<D> {
  const byName = new Map<string, { readonly definition: JobDefinition<unknown, D>; schema?: ZodMiniType }>();
  for (const definition of jobs) {
    const entry = { definition };
    for (const name of [definition.name, ...(definition.formerNames ?? [])]) {
      if (byName.has(name)) throw new Error(`two jobs are called ${name}`);
      byName.set(name, entry);
    }
  }
  return ({ type, body }) => {
    const entry = byName.get(type);
    if (entry === undefined) throw new Error(`no job is called ${type}`);
    const { definition } = entry;
    entry.schema ??= definition.body();
    const read = safeParse(entry.schema, body);
    if (read.success)
      return { name: definition.name, run: (deps, context) => definition.run(deps, read.data, context) };
    const problems = read.error.issues.map(
      (issue) => `${issue.path.join('.')} (${'expected' in issue ? `no ${issue.expected}` : issue.code})`,
    );
    throw new Error(`bad body of the job ${definition.name}: ${problems.join(', ')}`);
  };
}

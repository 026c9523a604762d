import type { ZodMiniType } from 'zod/mini';
import type { Deps } from './deps.ts';

/** A message of a queue, as the outbox wrote it. */
export interface Job {
  /** The same at every delivery. */
  readonly id: string;
  readonly type: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * A kind of background job. Subjects define theirs in `<subject>/jobs.ts`; the files of `worker/` collect them by queue.
 * A job may be delivered twice, late, or after its subject is gone.
 */
export interface JobDefinition<Body = unknown, D = Deps> {
  /** The `type` of its messages. Where the store enqueues it, the name is a constant there. */
  readonly name: string;
  /** Names that earlier releases enqueued it under, for messages that still wait. */
  readonly formerNames?: readonly string[];
  /**
   * Schema of the body, built when the first message comes, because building schemas at import slows down cold starts.
   * Of `zod/mini`, which adds 25 KB to a worker's bundle where `zod` adds 85.
   */
  readonly body: () => ZodMiniType<Body>;
  /** @throws what went wrong: the message is delivered again, and after some more times goes to the dead letters */
  run(deps: D, body: Body, context: JobContext): Promise<JobOutcome>;
}

export interface JobContext {
  /** Of the message; the same at every delivery. */
  readonly messageId: string;
  /** It was tried often enough: what cannot be done now is given up, and who waits for it is told. */
  readonly lastDelivery: boolean;
  /** Milliseconds since 1970: end of the job's time slice. No new step begins after it. */
  readonly deadline: number;
  /** Milliseconds since 1970: end of the worker's run, which a step that cannot be divided may take for itself. */
  readonly stopsAt: number;
}

/**
 * Nothing or true: the job is done. False: the slice ended before the job did, and the same message is enqueued again.
 * A {@link Continuation}: what to enqueue instead.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: what a function returns that returns nothing.
export type JobOutcome = void | boolean | Continuation;

export interface Continuation {
  /** Body of the next message; absent: the same as of this one. */
  readonly body?: object;
  /** Milliseconds until the next message is sent; absent: none. */
  readonly delayMs?: number;
}

/** Infers the type of the body from its schema. */
export const defineJob = <Body, D = Deps>(definition: JobDefinition<Body, D>): JobDefinition<Body, D> =>
  definition;

/** For a job that walks through something and returns where to go on. @param rest undefined: it is at the end */
export const continuedWith = (rest: object | undefined): JobOutcome => rest && { body: rest };

/** Delay before a job is tried again that another job or request blocks. */
const BLOCKED_MS = 5_000;

/** What a job that moves something leaves to do. `more`: the slice ended; `blocked`: others hold what it has to change. */
export type Progress = 'done' | 'more' | 'blocked';

export const outcomeOf = (progress: Progress): JobOutcome =>
  progress === 'blocked' ? { delayMs: BLOCKED_MS } : progress === 'done';

import { AsyncLocalStorage } from 'node:async_hooks';

/** What is written of a piece of work when it ends: plain values. */
export type Facts = Readonly<Record<string, unknown>>;

interface Work {
  readonly requestId: string;
  readonly facts: Record<string, unknown>;
}

const underWay = new AsyncLocalStorage<Work>();

/**
 * Runs `work` as part of what a request asked for: whatever it writes down and promises carries the request's id,
 * and so does what workers make of that.
 */
export function correlated<T>(requestId: string, work: () => T): T {
  return underWay.run({ requestId, facts: {} }, work);
}

/** The id of the request that led to what runs now; undefined where none did. */
export const requestId = (): string | undefined => underWay.getStore()?.requestId;

/** Adds to the line that ends the work under way. */
export function annotate(facts: Facts): void {
  Object.assign(underWay.getStore()?.facts ?? {}, facts);
}

/** What was added so far. */
export const annotations = (): Facts => underWay.getStore()?.facts ?? {};

/** `work` as part of what is under way now, whoever calls it later: a stream is read by somebody else. */
export const bound = <A extends unknown[], R>(work: (...args: A) => R): ((...args: A) => R) =>
  AsyncLocalStorage.bind(work);

import { AsyncLocalStorage } from 'node:async_hooks';

/** The fields of the log line that is written when a request or job ends: plain values. */
export type Facts = Readonly<Record<string, unknown>>;

interface Work {
  readonly requestId: string;
  hookCall: string | undefined;
  readonly facts: Record<string, unknown>;
}

const underWay = new AsyncLocalStorage<Work>();

/**
 * Runs `work` on behalf of a request: all log lines and outbox messages get the request's id, and so do those of the
 * workers that handle these messages.
 * @param hookCall the call of a hook that made the request, as the caller says
 */
export function correlated<T>(requestId: string, work: () => T, hookCall?: string): T {
  return underWay.run({ requestId, hookCall, facts: {} }, work);
}

/** The id of the request on whose behalf the current code runs; undefined for none. */
export const requestId = (): string | undefined => underWay.getStore()?.requestId;

/** The call of a hook to which the current code goes back, if there is one: checked by nobody yet. */
export const hookCall = (): string | undefined => underWay.getStore()?.hookCall;

/** The current code goes back to that call of a hook, where nobody has named another. */
export function goesBackTo(call: string | undefined): void {
  const work = underWay.getStore();
  if (work !== undefined) work.hookCall ??= call;
}

/** Adds fields to the log line that ends the current request or job. */
export function annotate(facts: Facts): void {
  Object.assign(underWay.getStore()?.facts ?? {}, facts);
}

/** The fields added so far. */
export const annotations = (): Facts => underWay.getStore()?.facts ?? {};

/** Binds `work` to the current request, for calls from another context, such as the reader of a stream. */
export const bound = <A extends unknown[], R>(work: (...args: A) => R): ((...args: A) => R) =>
  AsyncLocalStorage.bind(work);

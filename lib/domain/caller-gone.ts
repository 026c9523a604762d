import { underSignal } from '../git/work.ts';

/** The caller closed the connection: nobody waits for the answer. */
export class CallerGone extends Error {
  constructor() {
    super('the caller has gone');
    this.name = 'CallerGone';
  }
}

/**
 * Runs the work of a request, which ends with the signal's reason at the next step of the Git engine. For requests that
 * change nothing: a change must not stop halfway.
 */
export const whileWanted = <T>(signal: AbortSignal, work: () => T): T => underSignal(signal, work);

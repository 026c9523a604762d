import { Missing, Stale } from '../store/errors.ts';
import { conflict, notFound, recordNotFound } from './errors.ts';
import { retryOnConflict } from './retry-on-conflict.ts';

/**
 * Runs an attempt again while other writers are first.
 * @param gone what `404 <gone> Not Found` names where the store misses a record; default: `404 Not found`
 * @throws 404; 409 in the end
 */
export async function retryWhileStale<T>(attempt: () => Promise<T>, gone?: string): Promise<T> {
  try {
    return await retryOnConflict(attempt, (error) => error instanceof Stale);
  } catch (error) {
    if (error instanceof Missing) throw gone === undefined ? recordNotFound() : notFound(gone);
    throw error instanceof Stale ? conflict('409 Conflict: Resource lock') : error;
  }
}

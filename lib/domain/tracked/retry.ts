import { Missing, Stale } from '../../store/errors.ts';
import { conflict, recordNotFound } from '../errors.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';

/** Runs an attempt again while other writers are first. @throws `404 Not found` for a missing record; 409 in the end */
export async function retryWhileStale<T>(attempt: () => Promise<T>): Promise<T> {
  try {
    return await retryOnConflict(attempt, (error) => error instanceof Stale);
  } catch (error) {
    if (error instanceof Missing) throw recordNotFound();
    throw error instanceof Stale ? conflict('409 Conflict: Resource lock') : error;
  }
}

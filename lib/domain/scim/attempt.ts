import { LastOwner, Missing, NameTaken, Stale, TransactionRefused } from '../../store/errors.ts';
import { conflict, notFound, unauthorized } from '../errors.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';
import { notUnique } from './errors.ts';

/**
 * Runs an attempt that reads, decides and writes, and repeats it after a concurrent change.
 * @throws what `attempt` throws; 401 and 404 when the caller has lost its access; 409
 */
export async function attempted<T>(attempt: () => Promise<T>): Promise<T> {
  try {
    return await retryOnConflict(attempt, isLost, { attempts: 5 });
  } catch (error) {
    throw translated(error);
  }
}

const refusedAs = (error: unknown, reason: string): boolean =>
  error instanceof TransactionRefused && error.has(reason);

const isLost = (error: unknown): boolean =>
  error instanceof Stale ||
  error instanceof NameTaken ||
  (error instanceof TransactionRefused && !refusedAs(error, 'sso') && !refusedAs(error, 'token'));

function translated(error: unknown): unknown {
  if (error instanceof NameTaken) return notUnique(`${error.names.join(', ')} has already been taken`);
  if (error instanceof LastOwner) return conflict('The last owner of the group cannot be taken out of it');
  if (refusedAs(error, 'token')) return unauthorized();
  if (refusedAs(error, 'sso')) return notFound('Group');
  if (error instanceof Missing) return notFound('User');
  return isLost(error) ? conflict('409 Conflict: Resource lock') : error;
}

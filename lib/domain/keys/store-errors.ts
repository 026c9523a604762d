import { LimitReached, Missing, NameTaken } from '../../store/errors.ts';
import { invalid, notFound } from '../errors.ts';

/** What the store refuses of something that a user adds, as callers are told it. */
export async function translateStoreErrors(adding: Promise<void>): Promise<void> {
  try {
    await adding;
  } catch (error) {
    if (error instanceof NameTaken) throw invalid({ [error.names[0]!]: ['has already been taken'] });
    if (error instanceof LimitReached) throw invalid({ base: [`has reached the limit of ${error.limit}`] });
    throw error instanceof Missing ? notFound('User') : error;
  }
}

/** @throws `404 <what> Not Found` for what is gone meanwhile */
export async function orNotFound(removing: Promise<void>, what: string): Promise<void> {
  await removing.catch((error: unknown) => {
    throw error instanceof Missing ? notFound(what) : error;
  });
}

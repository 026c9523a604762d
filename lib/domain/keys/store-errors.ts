import { LimitReached, Missing, NameTaken } from '../../store/errors.ts';
import { invalid, notFound } from '../errors.ts';

/** Translates store errors of adding something to a user into domain errors. */
export async function translateStoreErrors(adding: Promise<void>): Promise<void> {
  try {
    await adding;
  } catch (error) {
    if (error instanceof NameTaken) throw invalid({ [error.names[0]!]: ['has already been taken'] });
    if (error instanceof LimitReached) throw invalid({ base: [`has reached the limit of ${error.limit}`] });
    throw error instanceof Missing ? notFound('User') : error;
  }
}

/** @throws `404 <what> Not Found` if it was deleted meanwhile */
export async function orNotFound(removing: Promise<void>, what: string): Promise<void> {
  await removing.catch((error: unknown) => {
    throw error instanceof Missing ? notFound(what) : error;
  });
}

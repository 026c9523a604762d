import type { UserRecord } from '../store/records.ts';
import type { Deps } from './deps.ts';
import { notFound } from './errors.ts';

/** The user of an id or username. @throws `404 User Not Found` */
export async function userNamed({ store }: Deps, idOrName: string): Promise<UserRecord> {
  const user = /^\d{1,15}$/.test(idOrName)
    ? await store.users.get(Number(idOrName))
    : await store.users.byUsername(idOrName);
  if (user === undefined) throw notFound('User');
  return user;
}

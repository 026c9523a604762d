import type { Identity } from '../git/parse.ts';
import type { UserRecord } from '../store/records.ts';

/** Who a commit or tag says made it, when the interface does in a user's name. */
export const identityOf = (user: Pick<UserRecord, 'name' | 'email'>, now: Date): Identity => ({
  name: user.name,
  email: user.email,
  seconds: Math.floor(now.getTime() / 1000),
  timezone: '+0000',
});

import type { Identity } from '../../git/parse.ts';
import type { UserRecord } from '../../records/users.ts';

/** Who a commit or tag says made it, when the interface does in a user's name. */
export const identityOf = (user: Pick<UserRecord, 'name' | 'email' | 'profile'>, now: Date): Identity => ({
  name: user.name,
  email: commitEmailOf(user),
  seconds: Math.floor(now.getTime() / 1000),
  timezone: '+0000',
});

/** The address that they chose for it, or their first. */
const commitEmailOf = ({ email, profile }: Pick<UserRecord, 'email' | 'profile'>): string =>
  (typeof profile['commit_email'] === 'string' && profile['commit_email']) || email;

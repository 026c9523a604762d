import type { Identity } from '../../git/parse.ts';
import type { UserRecord } from '../../records/users.ts';

/** The committer or tagger of an object that the API creates for a user. */
export const identityOf = (user: Pick<UserRecord, 'name' | 'email' | 'profile'>, now: Date): Identity => ({
  name: user.name,
  email: commitEmailOf(user),
  seconds: Math.floor(now.getTime() / 1000),
  timezone: '+0000',
});

/** The chosen commit email, or the primary one. */
const commitEmailOf = ({ email, profile }: Pick<UserRecord, 'email' | 'profile'>): string =>
  (typeof profile['commit_email'] === 'string' && profile['commit_email']) || email;

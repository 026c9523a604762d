/** A user's record as a table item with its list attributes, and the identities that the record holds. */

import { isInternal, type UserRecord } from '../../records/users.ts';
import { folded, orderedBy, padded } from '../row-keys/key.ts';
import { listPartition } from '../row-keys/lists.ts';
import type { Item } from '../table/write.ts';

/** The sort values for the ordered indexes. */
export const sortValues = (user: UserRecord) => ({
  byId: padded(user.id),
  byName: orderedBy(folded(user.name), user.id),
  byPath: orderedBy(folded(user.username), user.id),
  byUpdated: orderedBy(user.updatedAt, user.id),
});

/** List class of users that the service created for itself: listed apart from people in the same state. */
export const SERVICE = 'USER#service';
const listClass = ({ type, state }: UserRecord): string => (isInternal({ type }) ? SERVICE : `USER#${state}`);

export function toItem(user: UserRecord): Item {
  const day = user.lastActivityOn;
  return {
    ...user,
    list: listPartition(listClass(user), user.id),
    ...sortValues(user),
    ...(day === null ? {} : { byActivity: orderedBy(day, user.id) }),
  };
}

const NOT_OF_RECORD = new Set([
  'pk',
  'sk',
  'w',
  'list',
  'byId',
  'byName',
  'byPath',
  'byUpdated',
  'byActivity',
]);

export function fromItem(item: Item | undefined): UserRecord | undefined {
  if (item === undefined) return undefined;
  return Object.fromEntries(
    Object.entries(item).filter(([name]) => !NOT_OF_RECORD.has(name)),
  ) as unknown as UserRecord;
}

/** A user's account at an identity provider. */
export interface Identity {
  readonly provider: string;
  readonly extern_uid: string;
  readonly saml_provider_id: number | null;
}

/** Maximum per user. A user has one identity per provider, and no two users have the same one. */
export const MAX_IDENTITIES = 20;

export const identitiesOf = ({ profile }: Pick<UserRecord, 'profile'>): readonly Identity[] =>
  Array.isArray(profile['identities']) ? (profile['identities'] as Identity[]) : [];

/**
 * The name under which an identity is unique. Providers of groups are distinguished by their group. NUL separates the
 * parts: no parameter contains it.
 */
export const identityName = ({
  provider,
  extern_uid,
  saml_provider_id = null,
}: Pick<Identity, 'provider' | 'extern_uid'> & Partial<Identity>): string =>
  [provider, ...(saml_provider_id === null ? [] : [saml_provider_id]), extern_uid].join('\u0000');
export const identityNames = (user: Pick<UserRecord, 'profile'>): string[] =>
  identitiesOf(user).map(identityName);

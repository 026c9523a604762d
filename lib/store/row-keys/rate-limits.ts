import { cut, type Key, padded } from './key.ts';
import type { RowKind } from './row-kind.ts';

/** Count of a subject's actions of a kind within one time window. */
export const rateKey = (kind: string, subject: string, window: number): Key => ({
  pk: `${RATE_LIMITS}${kind}#${cut(subject, 900)}`,
  sk: `WINDOW#${padded(window)}`,
});

/** Recent IP addresses of a user; like rate limits, also written by functions that otherwise only read. */
export const userAddressesKey = (userId: number): Key => ({
  pk: `${RATE_LIMITS}addresses#${padded(userId)}`,
  sk: 'ADDRESSES',
});

/** Places of the long reads of a caller or a project that are under way. */
export const readPlacesKey = (subject: string): Key => ({
  pk: `${RATE_LIMITS}reads#${cut(subject, 900)}`,
  sk: 'PLACES',
});

/** Prefix of the partitions that otherwise read-only functions may write. */
export const RATE_LIMITS = 'RATE#';

export const rowKinds = [
  { name: 'rate', partitions: ['RATE#'], keys: { rateKey }, of: ['user'], expires: true },
  { name: 'user-addresses', partitions: ['RATE#'], keys: { userAddressesKey }, of: ['user'], expires: true },
  {
    name: 'read-places',
    partitions: ['RATE#'],
    keys: { readPlacesKey },
    of: ['user', 'project'],
    expires: true,
  },
] as const satisfies readonly RowKind[];

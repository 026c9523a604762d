import { cut, type Key, padded } from './key.ts';

/** What one subject did of a kind within one window of time. */
export const rateKey = (kind: string, subject: string, window: number): Key => ({
  pk: `${RATE_LIMITS}${kind}#${cut(subject, 900)}`,
  sk: `WINDOW#${padded(window)}`,
});

/** Where a user came from lately: counted as rates are, also by functions that only read. */
export const userAddressesKey = (userId: number): Key => ({
  pk: `${RATE_LIMITS}addresses#${padded(userId)}`,
  sk: 'ADDRESSES',
});

/** What the partitions of rate limits begin with: functions that write nothing else may write these. */
export const RATE_LIMITS = 'RATE#';

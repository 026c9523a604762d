import { RECENT_TIP } from '../../lib/store/row-keys/repository.ts';
import { keyText, rowCheck } from './rows.ts';

/** Partitions whose rows nothing needs to delete. */
const EXPIRING = [
  'BILLABLE#',
  'BILLABLES#',
  'CONFIRM#',
  'DONE#',
  'EVENTS#',
  'FETCHES#',
  'INVITATION#',
  'PAGES#',
  'RATE#',
  'RESET#',
  'UPLOAD#',
  'UPLOADS#',
] as const;

/** Seconds: nothing is kept longer than events. */
const MAX_KEPT = 4 * 366 * 86_400;

/** Rows that expire have a time at which they do, in seconds. */
export const expiring = rowCheck(
  [
    'billable-list',
    'billable-list-part',
    'email-confirmation',
    'processed-message',
    'event',
    'invitation-link',
    'rate',
    'user-addresses',
    'read-places',
    'page-end',
    'fetches',
    'password-reset',
    'push-upload',
    'upload-slot',
    'recent-tip',
  ],
  function* (rows) {
    const now = Date.now() / 1000;
    const recentTips = rows.of('REPO#').filter(({ sk }) => sk.startsWith(RECENT_TIP));
    for (const row of [...EXPIRING.flatMap((prefix) => rows.of(prefix)), ...recentTips]) {
      const { ttl } = row;
      if (typeof ttl !== 'number' || ttl > now + MAX_KEPT) yield `${keyText(row)} never expires`;
    }
  },
);

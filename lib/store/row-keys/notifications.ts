import type { MemberSource } from '../../records/members.ts';
import { type Key, padded } from './key.ts';
import { memberPartition } from './members.ts';
import type { RowKind } from './row-kind.ts';
import { userKey } from './users.ts';

// Notification settings.

/** A user's setting for one project or group. */
export const NOTIFY = 'NOTIFY#';

export const notifyKey = (source: MemberSource, userId: number): Key => ({
  pk: memberPartition(source),
  sk: `${NOTIFY}${padded(userId)}`,
});

/** A user's global setting. */
export const notifyEverywhereKey = (userId: number): Key => ({ pk: userKey(userId).pk, sk: 'NOTIFY' });

/** Users whose global setting subscribes them to all or some events of their projects and groups. */
export const WATCHERS = 'WATCHERS#';

export const watcherKey = (userId: number): Key => ({ pk: WATCHERS, sk: padded(userId) });

/** Secrets that sign links in mail, by purpose. */
export const linkSecretKey = (purpose: string): Key => ({ pk: `LINKSECRET#${purpose}`, sk: 'LINKSECRET' });

export const rowKinds = [
  {
    name: 'notification-choice',
    partitions: ['PROJECT#', 'GROUP#'],
    keys: { notifyKey },
    of: ['project', 'group', 'user'],
  },
  {
    name: 'notification-choice-everywhere',
    partitions: ['USER#'],
    keys: { notifyEverywhereKey },
    of: ['user'],
  },
  { name: 'watcher', partitions: ['WATCHERS#'], keys: { watcherKey }, of: ['user'] },
  { name: 'link-secret', partitions: ['LINKSECRET#'], keys: { linkSecretKey }, of: ['instance'] },
] as const satisfies readonly RowKind[];

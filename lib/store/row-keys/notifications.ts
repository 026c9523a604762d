import type { MemberSource } from '../../records/members.ts';
import { type Key, padded } from './key.ts';
import { memberPartition } from './members.ts';
import { userKey } from './users.ts';

// What people want mail of.

/** How somebody wants to hear of one project or group. */
export const NOTIFY = 'NOTIFY#';

export const notifyKey = (source: MemberSource, userId: number): Key => ({
  pk: memberPartition(source),
  sk: `${NOTIFY}${padded(userId)}`,
});

/** The same of everything else. */
export const notifyEverywhereKey = (userId: number): Key => ({ pk: userKey(userId).pk, sk: 'NOTIFY' });

/** That somebody wants to hear of all that goes on, or of some of it, wherever they are a member. */
export const WATCHERS = 'WATCHERS#';

export const watcherKey = (userId: number): Key => ({ pk: WATCHERS, sk: padded(userId) });

/** What links in mail are signed with, by what they do. */
export const linkSecretKey = (purpose: string): Key => ({ pk: `LINKSECRET#${purpose}`, sk: 'LINKSECRET' });

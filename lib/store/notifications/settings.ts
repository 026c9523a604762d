/**
 * Notification settings of users: per project and group for which they chose something, and global. What was not chosen
 * is absent. Each change is a single write, so two concurrent changes are both kept.
 */

import type { MemberSource } from '../../records/members.ts';
import {
  NOTIFICATION_EVENTS,
  type NotificationChoice,
  type NotificationLevel,
} from '../../records/notifications.ts';
import { Missing, TransactionRefused } from '../errors.ts';
import { checkSourceExists } from '../members/item.ts';
import { idOf } from '../row-keys/key.ts';
import { memberPartition } from '../row-keys/members.ts';
import { NOTIFY, notifyEverywhereKey, notifyKey, WATCHERS, watcherKey } from '../row-keys/notifications.ts';
import { userKey, userPartition, userRow } from '../row-keys/users.ts';
import { deletePage } from '../table/delete-page.ts';
import { type IdPage, idPage } from '../table/id-page.ts';
import { fewOfUser } from '../table/id-sources.ts';
import type { Table } from '../table/table.ts';
import { type Item, PRESENT, type Write } from '../table/write.ts';

/** Absent fields keep their value. */
export type NotificationChange = Partial<NotificationChoice>;

/** Levels that make a user a subscriber: notifications to subscribers find settings by these levels. */
const HEARS_ALL: ReadonlySet<NotificationLevel> = new Set(['watch', 'custom']);

/** A project or group; undefined for the global setting, which covers everything else. */
export type NotificationScope = MemberSource | undefined;

export class NotificationSettings {
  readonly #table: Table;
  constructor(table: Table) {
    this.#table = table;
  }

  async get(userId: number, scope: NotificationScope): Promise<NotificationChoice> {
    return fromItem(await this.#table.get(keyOf(userId, scope)));
  }

  /**
   * Returns many users' settings, per user in the order of `scopes`. One round trip per hundred rows; strongly consistent
   * by default.
   */
  async getMany(
    userIds: readonly number[],
    scopes: readonly NotificationScope[],
    options: { consistent?: boolean } = {},
  ): Promise<Map<number, NotificationChoice[]>> {
    const keys = userIds.flatMap((id) => scopes.map((scope) => keyOf(id, scope)));
    const items = (await this.#table.batchGet(keys, options)).map(fromItem);
    return new Map(
      userIds.map((id, i) => [id, items.slice(i * scopes.length, (i + 1) * scopes.length)] as const),
    );
  }

  /**
   * Returns the ids of projects or groups for which a user chose something, as the index shows them; undefined where they
   * are many. One round trip.
   */
  async fewOfUser(userId: number, kind: MemberSource['kind']): Promise<ReadonlySet<number> | undefined> {
    const rows = await fewOfUser(this.#table, userId, ROW[kind]);
    return rows && new Set(rows.map(({ what }) => idOf(what as string)));
  }

  /** @throws Missing when the user, the project or the group does not exist (any more) */
  async change(userId: number, scope: NotificationScope, change: NotificationChange): Promise<void> {
    try {
      await this.#table.transact([
        {
          update: keyOf(userId, scope),
          set: {
            ...(scope === undefined ? {} : namesOf(userId, scope)),
            level: change.level,
            email: change.email,
            ...Object.fromEntries(
              Object.entries(change.events ?? {}).map(([event, wanted]) => [flagOf(event), wanted]),
            ),
          },
        },
        { check: userKey(userId), if: PRESENT, reason: 'user' },
        ...(scope === undefined ? watching(userId, change.level) : [checkSourceExists(scope)]),
      ]);
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      for (const what of ['user', 'project', 'group']) if (error.has(what)) throw new Missing(what);
      throw error;
    }
  }

  /**
   * Returns ids of users who subscribed to all or some events of a project or group, above `after`, ascending. Eventually
   * consistent, at half the cost: their settings are read again before they are sent anything.
   */
  async subscribers(source: MemberSource, after: number, limit: number): Promise<IdPage> {
    const page = await this.#table.query({
      partition: memberPartition(source),
      from: notifyKey(source, after + 1).sk,
      to: `${NOTIFY}~`,
      where: '#level IN (:watch, :custom)',
      values: { watch: 'watch', custom: 'custom' },
      only: ['sk', 'level'],
      consistent: false,
      limit,
    });
    return idPage(page);
  }

  /** Returns ids of users who subscribed so globally, above `after`, ascending. Eventually consistent likewise. */
  async globalSubscribers(after: number, limit: number): Promise<IdPage> {
    const page = await this.#table.query({
      partition: WATCHERS,
      from: watcherKey(after + 1).sk,
      only: ['sk'],
      consistent: false,
      limit,
    });
    return idPage(page);
  }

  /** Returns whether each of the users subscribed so. One round trip per hundred; none without users. */
  async areGlobalSubscribers(userIds: readonly number[]): Promise<boolean[]> {
    if (userIds.length === 0) return [];
    return (await this.#table.batchGet(userIds.map(watcherKey))).map((row) => row !== undefined);
  }

  /** Deletes up to `limit` settings of a deleted project or group. @returns whether any are left */
  removeOfResource(source: MemberSource, limit = 500): Promise<boolean> {
    return deletePage(this.#table, { partition: memberPartition(source), prefix: NOTIFY, limit });
  }
}

const keyOf = (userId: number, scope: NotificationScope) =>
  scope === undefined ? notifyEverywhereKey(userId) : notifyKey(scope, userId);

const namesOf = (userId: number, { kind, id }: MemberSource) => ({
  who: userPartition(userId),
  what: userRow(ROW[kind], id),
});
const ROW = { project: 'NOTIFY', group: 'GROUPNOTIFY' } as const;

function watching(userId: number, level: NotificationLevel | undefined): Write[] {
  if (level === undefined) return [];
  const key = watcherKey(userId);
  if (!HEARS_ALL.has(level)) return [{ delete: key }];
  return [{ put: { ...key, who: userPartition(userId), what: userRow('WATCHER', userId) } }];
}

const flagOf = (event: string): string => `on_${event}`;

function fromItem(item: Item | undefined): NotificationChoice {
  if (item === undefined) return { events: {} };
  const events = NOTIFICATION_EVENTS.filter((event) => typeof item[flagOf(event)] === 'boolean');
  return {
    ...(item['level'] === undefined ? {} : { level: item['level'] as NotificationLevel }),
    ...(item['email'] === undefined ? {} : { email: item['email'] as string | null }),
    events: Object.fromEntries(events.map((event) => [event, item[flagOf(event)] as boolean])),
  };
}

/** Users: records, unique names and lists. */

import type { InternalType, UserRecord } from '../../records/users.ts';
import { ignoreRefusal, Missing, NameTaken, Stale, TransactionRefused } from '../errors.ts';
import { itemsOf, MAINTENANCE, message, type Outbox, type OutboxMessage } from '../outbox/outbox.ts';
import { orderedBy } from '../row-keys/key.ts';
import { nameKey } from '../row-keys/names.ts';
import { internalUserKey, userKey } from '../row-keys/users.ts';
import { indexed, indexMessage, type Search, withSearchRows } from '../search/search.ts';
import type { Counters } from '../table/counters.ts';
import type { Page, PageRequest } from '../table/paging.ts';
import type { Table } from '../table/table.ts';
import { claim, moveName, type Names, release, sameName, takenNames } from '../table/unique-names.ts';
import { ABSENT, type Check, PRESENT, type Write } from '../table/write.ts';
import { fromItem, identityName, identityNames, toItem } from './item.ts';
import { UserList, type UserQuery } from './list.ts';

/** Attributes that the store sets itself, or that change without a new version. */
type Derived =
  | 'id'
  | 'namespaceId'
  | 'projectsCount'
  | 'followers'
  | 'following'
  | 'createdAt'
  | 'updatedAt'
  | 'version';
/** The maintenance queue's job that removes the remaining data of a deleted user: `{ userId, hard?, last?, by? }`. */
export const DELETE_USER_JOB = 'user.delete';

export type NewUser = Omit<UserRecord, Derived>;
export type UserChange = Partial<Omit<UserRecord, Derived | 'type'>>;

interface Options {
  readonly now?: Date;
  readonly alongside?: readonly Write[];
  readonly messages?: readonly OutboxMessage[];
}

/** Writes and outbox messages of the creating transaction that contain the new user's id. */
type About =
  | readonly Write[]
  | { readonly alongside: readonly Write[]; readonly messages: readonly OutboxMessage[] };

export class Users {
  readonly #table: Table;
  readonly #names: Names;
  readonly #counters: Counters;
  readonly #outbox: Outbox;
  readonly #list: UserList;

  constructor(table: Table, names: Names, counters: Counters, outbox: Outbox, search: Search) {
    this.#table = table;
    this.#names = names;
    this.#counters = counters;
    this.#outbox = outbox;
    this.#list = new UserList(table, search, this);
  }

  /** @throws NameTaken with those of `username`, `email` and `identity` that were taken */
  async create(
    user: NewUser,
    { about, ...options }: Options & { about?: (id: number) => About } = {},
  ): Promise<UserRecord> {
    const [id, namespaceId] = await Promise.all([
      this.#counters.next('user'),
      this.#counters.next('namespace'),
    ]);
    const at = (options.now ?? new Date()).toISOString();
    const record: UserRecord = {
      ...user,
      id,
      namespaceId,
      projectsCount: 0,
      createdAt: at,
      updatedAt: at,
      version: 1,
    };
    const owner = { type: 'user', id } as const;
    const more = about?.(id) ?? [];
    const { alongside, messages = [] }: Omit<Options, 'now'> =
      'alongside' in more ? more : { alongside: more };
    const writes = [
      { put: { ...userKey(id), ...toItem(record) } },
      claim('path', user.username, owner, 'username'),
      claim('email', user.email, owner, 'email'),
      ...identityNames(user).map((name) => claim('identity', name, owner, 'identity')),
      ...(alongside ?? []),
      ...(options.alongside ?? []),
    ];
    const sent = [...messages, ...(options.messages ?? [])];
    const index = indexed('user', id, [record.name, record.username], writes.length + sent.length);
    await this.#commit([...writes, ...index.writes], [...sent, ...index.messages]);
    return record;
  }

  /** Returns the user that stands for all deleted users; creates it on the first call. */
  ghost(now = new Date()): Promise<UserRecord> {
    return this.internal('ghost', now);
  }

  /** Returns an account of the service; creates it on the first call. */
  async internal(type: InternalType, now = new Date()): Promise<UserRecord> {
    const { called, ...fields } = INTERNAL[type];
    for (let n = 0; n < 100; n++) {
      const row = await this.#table.get(internalUserKey(type));
      const found = row && (await this.get(row['userId'] as number));
      if (found !== undefined) return found;
      try {
        return await this.create(
          {
            ...fields,
            // Another user may already have these names.
            username: `${called}${n || ''}`,
            email: `${called}${n || ''}@${called}.invalid`,
          },
          {
            now,
            about: (userId) => [
              { put: { ...internalUserKey(type), userId }, if: ABSENT, reason: 'internal' },
            ],
          },
        );
      } catch (error) {
        if (!(error instanceof NameTaken || error instanceof TransactionRefused)) throw error;
      }
    }
    throw new Error(`every name of ${called} is taken`);
  }

  async get(id: number): Promise<UserRecord | undefined> {
    return fromItem(await this.#table.get(userKey(id)));
  }

  /** In the order of the ids; undefined where no user has the id. */
  async getMany(ids: readonly number[]): Promise<(UserRecord | undefined)[]> {
    return (await this.#table.batchGet(ids.map(userKey))).map(fromItem);
  }

  /**
   * Like {@link getMany}, for users that a list shows beside its items. Eventually consistent, at half the cost: a changed
   * name may be shown a moment late. Users that are not found, such as new ones, are read again, strongly consistent.
   */
  async shown(ids: readonly number[]): Promise<(UserRecord | undefined)[]> {
    const found = (await this.#table.batchGet(ids.map(userKey), { consistent: false })).map(fromItem);
    const missing = ids.filter((_, i) => found[i] === undefined);
    if (missing.length === 0) return found;
    const again = new Map((await this.getMany(missing)).map((user, i) => [missing[i]!, user]));
    return found.map((user, i) => user ?? again.get(ids[i]!));
  }

  /** Two reads: the name, then the user. */
  async byUsername(username: string): Promise<UserRecord | undefined> {
    const holder = await this.#names.holder('path', username);
    if (holder?.type !== 'user') return undefined;
    const user = await this.get(holder.id);
    return user !== undefined && sameName(user.username, username) ? user : undefined;
  }

  /** By the primary address or a confirmed secondary one. */
  async byEmail(email: string): Promise<UserRecord | undefined> {
    const holder = await this.#names.holder('email', email);
    return holder?.confirmed ? this.get(holder.id) : undefined;
  }

  async byIdentity(identity: Parameters<typeof identityName>[0]): Promise<UserRecord | undefined> {
    const holder = await this.#names.holder('identity', identityName(identity));
    return holder === undefined ? undefined : this.get(holder.id);
  }

  /** Users of many addresses, in the order of the addresses. Reads the names first, then the users. */
  async byEmails(emails: readonly string[]): Promise<(UserRecord | undefined)[]> {
    const holders = await this.#names.holders('email', emails);
    const ids = holders.map((holder) => (holder?.confirmed ? holder.id : undefined));
    const users = await this.getMany([...new Set(ids.filter((id) => id !== undefined))]);
    const byId = new Map(users.map((user) => [user?.id, user]));
    return ids.map((id) => (id === undefined ? undefined : byId.get(id)));
  }

  /**
   * Changes the given attributes, on condition that the record is still the one that was read. A former username
   * redirects to the user until another owner takes it. The caller enqueues the job that updates the projects in the
   * personal namespace.
   * @param options.lastHereOn change only if this is still the day of last activity, which the version does not cover
   * @throws Stale when the record changed meanwhile, NameTaken, Missing
   */
  async update(
    user: UserRecord,
    change: UserChange,
    options: Options & { lastHereOn?: string | null } = {},
  ): Promise<UserRecord> {
    const updated: UserRecord = {
      ...user,
      ...change,
      updatedAt: (options.now ?? new Date()).toISOString(),
      version: user.version + 1,
    };
    const owner = { type: 'user', id: user.id } as const;
    const {
      projectsCount: _p,
      followers: _f,
      following: _g,
      lastActivityOn,
      byActivity,
      ...stored
    } = toItem(updated);
    const [had, has] = [identityNames(user), identityNames(updated)];
    const writes: Write[] = [
      {
        update: userKey(user.id),
        // Counts and the day change without a new version; the day is only set here if it is part of this change.
        set: { ...stored, ...('lastActivityOn' in change ? { lastActivityOn, byActivity } : {}) },
        if: `${PRESENT} AND #version = :was${options.lastHereOn === undefined ? '' : ' AND #lastActivityOn = :lastHereOn'}`,
        values: {
          was: user.version,
          ...(options.lastHereOn === undefined ? {} : { lastHereOn: options.lastHereOn }),
        },
        reason: 'version',
      },
      ...(user.username === updated.username
        ? []
        : moveName('path', user.username, updated.username, owner, 'username', {})),
      ...moveEmail(user.email, updated.email, owner),
      ...without(has, had).map((name) => claim('identity', name, owner, 'identity')),
      ...without(had, has).map((name) => release('identity', name, owner, 'identity')),
      ...(options.alongside ?? []),
    ];
    const reindex = user.username !== updated.username || user.name !== updated.name;
    const messages = [...(reindex ? [indexMessage('user', user.id)] : []), ...(options.messages ?? [])];
    const texts = [updated.name, updated.username];
    const renamed = reindex ? ({ kind: 'user', id: user.id, texts } as const) : undefined;
    await withSearchRows(this.#table, renamed, writes.length + itemsOf(messages), (rows) =>
      this.#commit([...writes, ...rows], messages),
    );
    return updated;
  }

  /** For a transaction: checks that the user exists; refused as `user`. */
  isThere(id: number): Check {
    return { check: userKey(id), if: PRESENT, reason: 'user' };
  }

  /** For a transaction: checks that the user is an active administrator; refused as `administrator`. */
  isAdministrator(id: number): Check {
    return {
      check: userKey(id),
      if: '#admin = :yes AND #state = :active',
      values: { yes: true, active: 'active' },
      reason: 'administrator',
    };
  }

  /** Sets the day of last activity, once a day; changes neither version nor `updatedAt`. */
  async touch(id: number, day: string): Promise<void> {
    await this.#table
      .update({
        update: userKey(id),
        set: { lastActivityOn: day, byActivity: orderedBy(day, id) },
        if: `${PRESENT} AND (attribute_type(#lastActivityOn, :null) OR #lastActivityOn < :day)`,
        values: { null: 'NULL', day },
      })
      .catch(ignoreRefusal);
  }

  /**
   * Deletes the user's record, names and list entries at once. Afterwards the worker (`user.delete`) deletes what
   * belonged to the user and assigns what they wrote to the ghost user.
   * @param options.hard also delete what they wrote, and groups that have no other owner
   * @param options.by who requested the deletion, for what the worker records
   * @throws Stale, Missing; TransactionRefused for `alongside`
   */
  async remove(
    user: UserRecord,
    {
      hard = false,
      by,
      ...options
    }: Options & { hard?: boolean; by?: Readonly<Record<string, unknown>> } = {},
  ): Promise<void> {
    const owner = { type: 'user', id: user.id } as const;
    await this.#commit(
      [
        {
          delete: userKey(user.id),
          if: `${PRESENT} AND #version = :was`,
          values: { was: user.version },
          reason: 'version',
        },
        release('path', user.username, owner, 'username'),
        release('email', user.email, owner, 'email'),
        ...identityNames(user).map((name) => release('identity', name, owner, 'identity')),
        ...(options.alongside ?? []),
      ],
      [
        message(MAINTENANCE, DELETE_USER_JOB, { userId: user.id, ...(hard && { hard }), ...(by && { by }) }),
        indexMessage('user', user.id),
        ...(options.messages ?? []),
      ],
    );
  }

  /** Users who were active on or after a day, least recently active first. */
  activeSince(day: string, query: PageRequest): Promise<Page<UserRecord>> {
    return this.#list.activeSince(day, query);
  }

  /** Default order: id descending. */
  list(query: UserQuery): Promise<Page<UserRecord>> {
    return this.#list.page(query);
  }

  async #commit(writes: readonly Write[], messages: readonly OutboxMessage[]): Promise<void> {
    try {
      await this.#outbox.commit(writes, messages);
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      const refusal = error.get('version');
      if (refusal !== undefined) throw refusal.item === undefined ? new Missing('user') : new Stale('user');
      throw takenNames(error) ?? error;
    }
  }
}

const NOBODY = {
  state: 'active',
  admin: false,
  external: false,
  privateProfile: false,
  canCreateGroup: false,
  projectsLimit: 0,
  confirmedAt: null,
  lastActivityOn: null,
  passwordHash: null,
} as const;

const INTERNAL = {
  ghost: {
    ...NOBODY,
    type: 'ghost',
    name: 'Ghost User',
    called: 'ghost',
    profile: { bio: 'Stands for people whose accounts are gone.' },
  },
  alert_bot: {
    ...NOBODY,
    type: 'alert_bot',
    name: 'Alert Bot',
    called: 'alert-bot',
    profile: { bio: 'Opens and closes incidents for alerts of monitoring tools.' },
  },
} as const satisfies Readonly<
  Record<InternalType, Omit<NewUser, 'username' | 'email'> & { readonly called: string }>
>;

/** The names that are not among the others. Names that differ only in case are the same. */
const without = (names: readonly string[], others: readonly string[]): string[] =>
  names.filter((name) => !others.some((other) => sameName(name, other)));

/**
 * Claims the new address and releases the previous one. Unlike a former username, a former address does not redirect to
 * the user: its mailbox may belong to another person by now.
 */
function moveEmail(previous: string, next: string, owner: { type: 'user'; id: number }): Write[] {
  if (previous === next) return [];
  // A spelling that differs only in case is stored in the same item.
  if (sameName(previous, next)) return [{ update: nameKey('email', next), set: { name: next } }];
  return [claim('email', next, owner, 'email'), release('email', previous, owner, 'email')];
}

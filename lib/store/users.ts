/** Users: their record, their unique names, their lists. */
import type { Counters } from './counters.ts';
import { Missing, Stale, TransactionRefused } from './errors.ts';
import { folded, listPartition, listPartitions, nameKey, orderedBy, padded, userKey } from './keys.ts';
import { claim, type Names, release, sameName, takenNames } from './names.ts';
import { MAINTENANCE, message, type Outbox, type OutboxMessage } from './outbox.ts';
import {
  chunkFor,
  countPartitions,
  cutPage,
  type Direction,
  type IndexPartition,
  indexSource,
  listSource,
  mergeKeys,
  type Page,
  type PageRequest,
} from './paging.ts';
import type { UserRecord, UserState } from './records.ts';
import type { Search } from './search.ts';
import type { Table } from './table.ts';
import { type Item, PRESENT, type Write } from './write.ts';

export type NewUser = Omit<
  UserRecord,
  'id' | 'namespaceId' | 'projectsCount' | 'createdAt' | 'updatedAt' | 'version'
>;

/** What may be changed; `projectsCount` follows from projects alone. */
export type UserChange = Partial<
  Omit<UserRecord, 'id' | 'namespaceId' | 'projectsCount' | 'createdAt' | 'updatedAt' | 'version'>
>;

export type UserOrder = 'id' | 'name' | 'username' | 'created_at' | 'updated_at';

export interface UserQuery extends PageRequest {
  readonly order?: UserOrder;
  readonly direction?: Direction;
  /** Only these; all when absent. */
  readonly states?: readonly UserState[];
  /** Substring of name or username, without case, or a whole e-mail address. */
  readonly search?: string;
  readonly idAfter?: number;
  readonly idBefore?: number;
  /** A further condition; every user on the way is loaded for it, 5,000 at most. */
  readonly where?: (user: UserRecord) => boolean;
}

const STATES: readonly UserState[] = ['active', 'blocked', 'deactivated', 'banned'];

export class Users {
  readonly #table: Table;
  readonly #names: Names;
  readonly #counters: Counters;
  readonly #outbox: Outbox;
  readonly #search: Search;

  constructor(table: Table, names: Names, counters: Counters, outbox: Outbox, search: Search) {
    this.#table = table;
    this.#names = names;
    this.#counters = counters;
    this.#outbox = outbox;
    this.#search = search;
  }

  /** @throws NameTaken `username` and `email`: which of the two were taken. */
  async create(
    user: NewUser,
    options: { now?: Date; alongside?: readonly Write[]; messages?: readonly OutboxMessage[] } = {},
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
    const writes = [
      { put: { ...userKey(id), ...toItem(record) } },
      claim('path', user.username, owner, 'username'),
      claim('email', user.email, owner, 'email'),
      ...(options.alongside ?? []),
    ];
    await this.#commit(writes, [indexMessage(id), ...(options.messages ?? [])]);
    return record;
  }

  async get(id: number): Promise<UserRecord | undefined> {
    return fromItem(await this.#table.get(userKey(id)));
  }

  /** In the order of the ids; undefined where nobody is. */
  async getMany(ids: readonly number[]): Promise<(UserRecord | undefined)[]> {
    return (await this.#table.batchGet(ids.map(userKey))).map(fromItem);
  }

  /** Two reads: the name, then the user. */
  async byUsername(username: string): Promise<UserRecord | undefined> {
    const holder = await this.#names.holder('path', username);
    if (holder?.type !== 'user') return undefined;
    const user = await this.get(holder.id);
    return user !== undefined && sameName(user.username, username) ? user : undefined;
  }

  async byEmail(email: string): Promise<UserRecord | undefined> {
    const holder = await this.#names.holder('email', email);
    return holder === undefined ? undefined : this.get(holder.id);
  }

  /** Of many addresses, in their order: names first, then users. */
  async byEmails(emails: readonly string[]): Promise<(UserRecord | undefined)[]> {
    const ids = (await this.#names.holders('email', emails)).map((holder) => holder?.id);
    const users = await this.getMany([...new Set(ids.filter((id) => id !== undefined))]);
    const byId = new Map(users.map((user) => [user?.id, user]));
    return ids.map((id) => (id === undefined ? undefined : byId.get(id)));
  }

  /**
   * Changes what is given, on condition that the record is still the one that was read.
   * A new username also renames the personal namespace; its projects are the domain's to move first.
   * @throws Stale when it changed meanwhile, NameTaken, Missing
   */
  async update(
    user: UserRecord,
    change: UserChange,
    options: { now?: Date; alongside?: readonly Write[]; messages?: readonly OutboxMessage[] } = {},
  ): Promise<UserRecord> {
    const updated: UserRecord = {
      ...user,
      ...change,
      updatedAt: (options.now ?? new Date()).toISOString(),
      version: user.version + 1,
    };
    const owner = { type: 'user', id: user.id } as const;
    const { projectsCount: _, lastActivityOn, ...stored } = toItem(updated);
    const writes: Write[] = [
      {
        update: userKey(user.id),
        // Both move without a version; the day only changes here when this change is about it.
        set: { ...stored, ...('lastActivityOn' in change ? { lastActivityOn } : {}) },
        if: `${PRESENT} AND #version = :was`,
        values: { was: user.version },
        reason: 'version',
      },
      ...moveName('path', user.username, updated.username, owner, 'username'),
      ...moveName('email', user.email, updated.email, owner, 'email'),
      ...(options.alongside ?? []),
    ];
    const reindex = user.username !== updated.username || user.name !== updated.name;
    await this.#commit(writes, [...(reindex ? [indexMessage(user.id)] : []), ...(options.messages ?? [])]);
    return updated;
  }

  /** Sets the day of last activity, once a day; changes neither version nor `updatedAt`. */
  async touch(id: number, day: string): Promise<void> {
    await this.#table
      .update({
        update: userKey(id),
        set: { lastActivityOn: day },
        if: `${PRESENT} AND (attribute_type(#lastActivityOn, :null) OR #lastActivityOn < :day)`,
        values: { null: 'NULL', day },
      })
      .catch(ignoreRefusal);
  }

  /**
   * The user is gone at once, for everybody: record, names and lists. What belonged to them is taken away
   * by the worker (`user.delete`).
   */
  async remove(user: UserRecord, options: { messages?: readonly OutboxMessage[] } = {}): Promise<void> {
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
      ],
      [
        message(MAINTENANCE, 'user.delete', { userId: user.id }),
        indexMessage(user.id),
        ...(options.messages ?? []),
      ],
    );
  }

  /** Default order: id descending. */
  async list(query: UserQuery): Promise<Page<UserRecord>> {
    const direction = query.direction ?? 'desc';
    const states = query.states ?? STATES;
    const index = INDEX[query.order ?? 'id'];
    const term = query.search?.trim() ?? '';
    const found = term === '' ? undefined : await this.#found(term);
    const passes = (user: UserRecord) =>
      states.includes(user.state) &&
      (query.idAfter === undefined || user.id > query.idAfter) &&
      (query.idBefore === undefined || user.id < query.idBefore) &&
      (found === undefined || found.matches(user)) &&
      (query.where?.(user) ?? true);
    const load = (ids: readonly number[]) => this.getMany(ids);
    if (found?.complete) {
      const matching = found.users.filter(passes);
      const keys = matching.map((user) => ({ sort: sortValues(user)[index], id: user.id }));
      const byId = new Map(matching.map((user) => [user.id, user]));
      const page = await cutPage(mergeKeys([listSource(keys, direction)], direction), query, {
        load: async (ids) => ids.map((id) => byId.get(id)),
      });
      return { ...page, total: query.count ? matching.length : undefined };
    }
    const bounds =
      index === 'byId'
        ? {
            ...(query.idAfter === undefined ? {} : { from: padded(query.idAfter + 1) }),
            ...(query.idBefore === undefined ? {} : { to: padded(Math.max(0, query.idBefore - 1)) }),
          }
        : {};
    const partitions: IndexPartition[] = states
      .flatMap((state) => listPartitions(`USER#${state}`))
      .map((partition) => ({ index, partition, ...bounds }));
    const chunk = chunkFor(query, partitions.length);
    // So many match a search that is not complete that walking the list finds them.
    const filtered =
      found !== undefined ||
      query.where !== undefined ||
      (index !== 'byId' && (query.idAfter !== undefined || query.idBefore !== undefined));
    const sources = partitions.map((where) => indexSource(this.#table, where, direction, chunk));
    const [page, total] = await Promise.all([
      cutPage(mergeKeys(sources, direction), query, {
        load: async (ids) =>
          (await load(ids)).map((user) => (user !== undefined && passes(user) ? user : undefined)),
        where: filtered ? () => true : undefined,
      }),
      query.count && !filtered ? countPartitions(this.#table, partitions) : undefined,
    ]);
    return filtered ? page : { ...page, total };
  }

  /** By name, username or whole e-mail address; not complete when so many match that not all were looked up. */
  async #found(term: string) {
    const [hits, byEmail] = await Promise.all([
      this.#search.find('user', term),
      term.includes('@') ? this.byEmail(term) : undefined,
    ]);
    const matches = (user: UserRecord) => user.id === byEmail?.id || hits.matches([user.name, user.username]);
    if (!hits.complete) return { complete: false, users: [], matches };
    const ids = byEmail === undefined ? hits.ids : [...new Set([...hits.ids, byEmail.id])];
    const users = (await this.getMany(ids)).filter((user) => user !== undefined);
    return { complete: true, users, matches };
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

const INDEX = {
  id: 'byId',
  created_at: 'byId',
  name: 'byName',
  username: 'byPath',
  updated_at: 'byUpdated',
} as const;

/** The values of the ordered indexes. */
const sortValues = (user: UserRecord) => ({
  byId: padded(user.id),
  byName: orderedBy(folded(user.name), user.id),
  byPath: orderedBy(folded(user.username), user.id),
  byUpdated: orderedBy(user.updatedAt, user.id),
});

function toItem(user: UserRecord): Item {
  return { ...user, list: listPartition(`USER#${user.state}`, user.id), ...sortValues(user) };
}

function fromItem(item: Item | undefined): UserRecord | undefined {
  if (item === undefined) return undefined;
  const { pk: _p, sk: _s, w: _w, list: _l, byId: _i, byName: _n, byPath: _b, byUpdated: _u, ...rest } = item;
  return rest as unknown as UserRecord;
}

const indexMessage = (id: number) => message(MAINTENANCE, 'search.index', { kind: 'user', id });

function moveName(
  kind: 'path' | 'email',
  was: string,
  is: string,
  owner: { type: 'user'; id: number },
  label: string,
): Write[] {
  if (was === is) return [];
  // Another spelling of the same name is the same item.
  if (sameName(was, is)) return [{ update: nameKey(kind, is), set: { name: is } }];
  return [claim(kind, is, owner, label), release(kind, was, owner, label)];
}

export function ignoreRefusal(error: unknown): void {
  if ((error as { code?: unknown }).code !== 'refused') throw error;
}

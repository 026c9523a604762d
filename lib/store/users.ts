/** Users: their record, their unique names, their lists. */
import type { Counters } from './counters.ts';
import { type Attributes, haveAll, rowsWith } from './custom-attributes.ts';
import { Missing, NameTaken, Stale, TransactionRefused } from './errors.ts';
import {
  folded,
  internalUserKey,
  listPartition,
  listPartitions,
  nameKey,
  orderedBy,
  padded,
  userKey,
} from './keys.ts';
import { claim, moveName, type Names, release, sameName, takenNames } from './names.ts';
import { MAINTENANCE, message, type Outbox, type OutboxMessage } from './outbox.ts';
import {
  chunkFor,
  countPartitions,
  cutPage,
  type Direction,
  type IndexPartition,
  indexSource,
  type KeySource,
  listSource,
  mergeKeys,
  type Page,
  type PageRequest,
  type Range,
} from './paging.ts';
import { USER_STATES, type UserRecord, type UserState } from './records.ts';
import { keysById, keysSorted } from './row-sets.ts';
import type { Search } from './search.ts';
import type { Table } from './table.ts';
import { ABSENT, type Check, type Item, PRESENT, type Write } from './write.ts';

/** Follow from other things, or move without a version. */
type Derived =
  | 'id'
  | 'namespaceId'
  | 'projectsCount'
  | 'followers'
  | 'following'
  | 'createdAt'
  | 'updatedAt'
  | 'version';
export type NewUser = Omit<UserRecord, Derived>;
export type UserChange = Partial<Omit<UserRecord, Derived | 'type'>>;

interface Options {
  readonly now?: Date;
  readonly alongside?: readonly Write[];
  readonly messages?: readonly OutboxMessage[];
}

/** What the transaction writes and promises where that names the new user. */
type About =
  | readonly Write[]
  | { readonly alongside: readonly Write[]; readonly messages: readonly OutboxMessage[] };

/** Who somebody is at a provider. */
export interface Identity {
  readonly provider: string;
  readonly extern_uid: string;
  readonly saml_provider_id: number | null;
}

/** A user has one identity at a provider, and no two users the same. */
export const MAX_IDENTITIES = 20;

export const identitiesOf = ({ profile }: Pick<UserRecord, 'profile'>): readonly Identity[] =>
  Array.isArray(profile['identities']) ? (profile['identities'] as Identity[]) : [];

export type UserOrder = 'id' | 'name' | 'username' | 'created_at' | 'updated_at';

export interface UserQuery extends PageRequest {
  readonly order?: UserOrder;
  readonly direction?: Direction;
  /** Only these; all when absent. */
  readonly states?: readonly UserState[];
  /** Substring of name or username, without case, or a whole e-mail address: one shown to all, or any (`anyEmail`). */
  readonly search?: string;
  readonly anyEmail?: boolean;
  readonly idAfter?: number;
  readonly idBefore?: number;
  /** Only users with all of these custom attributes. */
  readonly attributes?: Attributes;
  /** A further condition; every user on the way is loaded for it, 5,000 at most. */
  readonly where?: (user: UserRecord) => boolean;
}

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

  /** @throws NameTaken `username`, `email` and `identity`: which of them were taken */
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
    await this.#commit(writes, [indexMessage(id), ...messages, ...(options.messages ?? [])]);
    return record;
  }

  /** The user who stands for all who are gone; made when it is asked for the first time. */
  async ghost(now = new Date()): Promise<UserRecord> {
    for (let n = 0; n < 100; n++) {
      const row = await this.#table.get(internalUserKey('ghost'));
      const ghost = row && (await this.get(row['userId'] as number));
      if (ghost !== undefined) return ghost;
      try {
        return await this.create(
          {
            ...GHOST,
            // Somebody may have these names.
            username: `ghost${n || ''}`,
            email: `ghost${n || ''}@ghost.invalid`,
          },
          {
            now,
            about: (userId) => [
              { put: { ...internalUserKey('ghost'), userId }, if: ABSENT, reason: 'internal' },
            ],
          },
        );
      } catch (error) {
        if (!(error instanceof NameTaken || error instanceof TransactionRefused)) throw error;
      }
    }
    throw new Error('every name of a ghost is taken');
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

  /** By the first address or a confirmed other one. */
  async byEmail(email: string): Promise<UserRecord | undefined> {
    const holder = await this.#names.holder('email', email);
    return holder?.confirmed ? this.get(holder.id) : undefined;
  }

  async byIdentity(identity: Pick<Identity, 'provider' | 'extern_uid'>): Promise<UserRecord | undefined> {
    const holder = await this.#names.holder('identity', identityName(identity));
    return holder === undefined ? undefined : this.get(holder.id);
  }

  /** Of many addresses, in their order: names first, then users. */
  async byEmails(emails: readonly string[]): Promise<(UserRecord | undefined)[]> {
    const holders = await this.#names.holders('email', emails);
    const ids = holders.map((holder) => (holder?.confirmed ? holder.id : undefined));
    const users = await this.getMany([...new Set(ids.filter((id) => id !== undefined))]);
    const byId = new Map(users.map((user) => [user?.id, user]));
    return ids.map((id) => (id === undefined ? undefined : byId.get(id)));
  }

  /**
   * Changes what is given, on condition that the record is still the one that was read. A former username leads on to
   * the user until somebody else takes it; projects in the personal namespace follow by a job of the caller's.
   * @throws Stale when it changed meanwhile, NameTaken, Missing
   */
  async update(user: UserRecord, change: UserChange, options: Options = {}): Promise<UserRecord> {
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
        // Counts and the day move without a version; the day only changes here when this change is about it.
        set: { ...stored, ...('lastActivityOn' in change ? { lastActivityOn, byActivity } : {}) },
        if: `${PRESENT} AND #version = :was`,
        values: { was: user.version },
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
    await this.#commit(writes, [...(reindex ? [indexMessage(user.id)] : []), ...(options.messages ?? [])]);
    return updated;
  }

  /** For a transaction: that this account is there; refused as `user`. */
  isThere(id: number): Check {
    return { check: userKey(id), if: PRESENT, reason: 'user' };
  }

  /** For a transaction: that this one is an administrator, and may act; refused as `administrator`. */
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
   * The user is gone at once, for everybody: record, names and lists. What belonged to them is taken away, and what
   * they wrote given to the ghost, by the worker (`user.delete`).
   * @param options.hard what they wrote goes too, and groups that nobody else owns
   * @throws Stale, Missing; TransactionRefused for `alongside`
   */
  async remove(
    user: UserRecord,
    { hard = false, ...options }: Options & { hard?: boolean } = {},
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
        message(MAINTENANCE, 'user.delete', { userId: user.id, ...(hard ? { hard } : {}) }),
        indexMessage(user.id),
        ...(options.messages ?? []),
      ],
    );
  }

  /** Who was active on a day or after it: the longest ago first. */
  async activeSince(day: string, query: PageRequest): Promise<Page<UserRecord>> {
    const partitions = USER_STATES.flatMap((state) => listPartitions(`USER#${state}`)).map(
      (partition): IndexPartition => ({ index: 'byActivity', partition, from: day }),
    );
    const chunk = chunkFor(query, partitions.length);
    const sources = partitions.map((where) => indexSource(this.#table, where, 'asc', chunk));
    const [page, total] = await Promise.all([
      cutPage(mergeKeys(sources, 'asc'), query, { load: (ids) => this.getMany(ids) }),
      query.count ? countPartitions(this.#table, partitions) : undefined,
    ]);
    return { ...page, total };
  }

  /** Default order: id descending. */
  async list(query: UserQuery): Promise<Page<UserRecord>> {
    const direction = query.direction ?? 'desc';
    const states = query.states ?? USER_STATES;
    const index = INDEX[query.order ?? 'id'];
    const term = query.search?.trim() ?? '';
    const found = term === '' ? undefined : await this.#found(term, query.anyEmail === true);
    const passes = (user: UserRecord) =>
      states.includes(user.state) &&
      (query.idAfter === undefined || user.id > query.idAfter) &&
      (query.idBefore === undefined || user.id < query.idBefore) &&
      (found === undefined || found.matches(user)) &&
      (query.where?.(user) ?? true);
    const { attributes } = query;
    const load = async (ids: readonly number[]) => {
      const [users, noted] = await Promise.all([
        this.getMany(ids),
        haveAll(this.#table, 'user', ids, attributes),
      ]);
      return users.map((user, i) => (noted[i] ? user : undefined));
    };
    if (found?.complete) {
      const noted = await haveAll(
        this.#table,
        'user',
        found.users.map(({ id }) => id),
        attributes,
      );
      const matching = found.users.filter((user, i) => noted[i] && passes(user));
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
      attributes !== undefined ||
      (index !== 'byId' && (query.idAfter !== undefined || query.idBefore !== undefined));
    const sources =
      attributes === undefined
        ? partitions.map((where) => indexSource(this.#table, where, direction, chunk))
        : [await this.#noted(attributes, index, direction, bounds, chunk)];
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

  /** Who has the attributes, as far as an index knows. */
  async #noted(
    attributes: Attributes,
    index: (typeof INDEX)[UserOrder],
    direction: Direction,
    bounds: Range,
    chunk: number,
  ): Promise<KeySource> {
    const rows = rowsWith(this.#table, 'user', attributes);
    if (index === 'byId') return keysById(rows, direction, bounds, chunk);
    return keysSorted(this.#table, rows, direction, { index, keyOf: userKey });
  }

  /** By name, username or whole e-mail address; not complete when so many match that not all were looked up. */
  async #found(term: string, anyEmail: boolean) {
    const [hits, holder] = await Promise.all([
      this.#search.find('user', term),
      term.includes('@') ? this.byEmail(term) : undefined,
    ]);
    const shown = holder?.profile['public_email'];
    const byEmail = anyEmail || (typeof shown === 'string' && sameName(shown, term)) ? holder : undefined;
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
  const day = user.lastActivityOn;
  return {
    ...user,
    list: listPartition(`USER#${user.state}`, user.id),
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

function fromItem(item: Item | undefined): UserRecord | undefined {
  if (item === undefined) return undefined;
  return Object.fromEntries(
    Object.entries(item).filter(([name]) => !NOT_OF_RECORD.has(name)),
  ) as unknown as UserRecord;
}

const GHOST = {
  name: 'Ghost User',
  state: 'active',
  type: 'ghost',
  admin: false,
  external: false,
  privateProfile: false,
  canCreateGroup: false,
  projectsLimit: 0,
  confirmedAt: null,
  lastActivityOn: null,
  passwordHash: null,
  profile: { bio: 'Stands for people whose accounts are gone.' },
} as const;

const indexMessage = (id: number) => message(MAINTENANCE, 'search.index', { kind: 'user', id });

/** No parameter holds NUL. */
const identityName = ({ provider, extern_uid }: Pick<Identity, 'provider' | 'extern_uid'>): string =>
  `${provider}\u0000${extern_uid}`;
const identityNames = (user: Pick<UserRecord, 'profile'>): string[] => identitiesOf(user).map(identityName);

/** The same in another case is the same name. */
const without = (names: readonly string[], others: readonly string[]): string[] =>
  names.filter((name) => !others.some((other) => sameName(name, other)));

/** Mail to a former address reaches somebody who may be anybody: it leads nowhere. */
function moveEmail(was: string, is: string, owner: { type: 'user'; id: number }): Write[] {
  if (was === is) return [];
  // Another spelling of the same name is the same item.
  if (sameName(was, is)) return [{ update: nameKey('email', is), set: { name: is } }];
  return [claim('email', is, owner, 'email'), release('email', was, owner, 'email')];
}

export function ignoreRefusal(error: unknown): void {
  if ((error as { code?: unknown }).code !== 'refused') throw error;
}

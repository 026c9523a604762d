/** Lists of users: from the indexes, by search, by custom attributes. */

import { isInternal, USER_STATES, type UserRecord, type UserState } from '../../records/users.ts';
import {
  type Attributes,
  haveAllAttributes,
  idsWithAttributes,
} from '../custom-attributes/custom-attributes.ts';
import { padded } from '../row-keys/key.ts';
import { listPartitions } from '../row-keys/lists.ts';
import { userKey } from '../row-keys/users.ts';
import type { Search } from '../search/search.ts';
import { keysById, keysSorted } from '../table/id-sources.ts';
import { chunkFor, countSources, countWalk, cutPage, type Page, type PageRequest } from '../table/paging.ts';
import {
  type Direction,
  type IndexPartition,
  indexSource,
  type KeySource,
  listSource,
  mergeKeys,
  type Range,
} from '../table/sorted-sources.ts';
import type { Table } from '../table/table.ts';
import { sameName } from '../table/unique-names.ts';
import { SERVICE, sortValues } from './item.ts';

export type UserOrder = 'id' | 'name' | 'username' | 'created_at' | 'updated_at';

export interface UserQuery extends PageRequest {
  readonly order?: UserOrder;
  readonly direction?: Direction;
  /** Only users in these states; all states when absent. */
  readonly states?: readonly UserState[];
  /** Whether to include users that the service created for itself. Default: true. */
  readonly service?: boolean;
  /**
   * Substring of name or username, ignoring case, or a whole email address: the public one, or with `anyEmail` any.
   */
  readonly search?: string;
  readonly anyEmail?: boolean;
  readonly idAfter?: number;
  readonly idBefore?: number;
  /** Only users with all of these custom attributes. */
  readonly attributes?: Attributes;
  /** A further condition. Every user passed on the way is loaded to evaluate it, at most 5,000. */
  readonly where?: (user: UserRecord) => boolean;
}

/** Loads the records. */
interface Source {
  getMany(ids: readonly number[]): Promise<(UserRecord | undefined)[]>;
  byEmail(email: string): Promise<UserRecord | undefined>;
}

export class UserList {
  readonly #table: Table;
  readonly #search: Search;
  readonly #users: Source;

  constructor(table: Table, search: Search, users: Source) {
    this.#table = table;
    this.#search = search;
    this.#users = users;
  }

  /** Users who were active on or after a day, least recently active first. */
  async activeSince(day: string, query: PageRequest): Promise<Page<UserRecord>> {
    const partitions = classesOf({})
      .flatMap(listPartitions)
      .map((partition): IndexPartition => ({ index: 'byActivity', partition, from: day }));
    const chunk = chunkFor(query, partitions.length);
    const after = query.rows?.after;
    const sources = partitions.map((where) => indexSource(this.#table, where, 'asc', chunk, after));
    const [page, total] = await Promise.all([
      cutPage(mergeKeys(sources, 'asc', after), query, { load: (ids) => this.#users.getMany(ids) }),
      query.count ? countSources(sources) : undefined,
    ]);
    return { ...page, total };
  }

  /** Default order: id descending. */
  async page(query: UserQuery): Promise<Page<UserRecord>> {
    const direction = query.direction ?? 'desc';
    const states = query.states ?? USER_STATES;
    const index = INDEX[query.order ?? 'id'];
    const term = query.search?.trim() ?? '';
    const found = term === '' ? undefined : await this.#found(term, query.anyEmail === true);
    const passes = (user: UserRecord) =>
      states.includes(user.state) &&
      (query.service !== false || !isInternal(user)) &&
      (query.idAfter === undefined || user.id > query.idAfter) &&
      (query.idBefore === undefined || user.id < query.idBefore) &&
      (found === undefined || found.matches(user)) &&
      (query.where?.(user) ?? true);
    const { attributes } = query;
    const load = async (ids: readonly number[]) => {
      const [users, noted] = await Promise.all([
        this.#users.getMany(ids),
        haveAllAttributes(this.#table, 'user', ids, attributes),
      ]);
      return users.map((user, i) => (noted[i] ? user : undefined));
    };
    if (found?.complete) {
      const noted = await haveAllAttributes(
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
    const partitions: IndexPartition[] = classesOf(query)
      .flatMap(listPartitions)
      .map((partition) => ({ index, partition, ...bounds }));
    const chunk = chunkFor(query, partitions.length);
    // An incomplete search has so many matches that walking the list and filtering finds enough of them.
    const filtered =
      found !== undefined ||
      query.where !== undefined ||
      attributes !== undefined ||
      (index !== 'byId' && (query.idAfter !== undefined || query.idBefore !== undefined));
    const listed = partitions.map((where) => indexSource(this.#table, where, direction, chunk));
    const sources =
      attributes === undefined ? listed : [await this.#noted(attributes, index, direction, bounds, chunk)];
    const [page, total] = await Promise.all([
      cutPage(mergeKeys(sources, direction), query, {
        countWalk: countWalk(term),
        load: async (ids) =>
          (await load(ids)).map((user) => (user !== undefined && passes(user) ? user : undefined)),
        where: filtered ? () => true : undefined,
      }),
      query.count && !filtered ? countSources(listed) : undefined,
    ]);
    return filtered ? page : { ...page, total };
  }

  /** Keys of the users that have the attributes according to an index, which may be late. */
  async #noted(
    attributes: Attributes,
    index: (typeof INDEX)[UserOrder],
    direction: Direction,
    bounds: Range,
    chunk: number,
  ): Promise<KeySource> {
    const rows = idsWithAttributes(this.#table, 'user', attributes);
    if (index === 'byId') return keysById(rows, direction, bounds, chunk);
    return keysSorted(this.#table, rows, direction, { index, keyOf: userKey });
  }

  /**
   * Finds users by name, username or whole email address. Not complete when so many match that not all were looked up.
   */
  async #found(term: string, anyEmail: boolean) {
    const [hits, holder] = await Promise.all([
      this.#search.find('user', term),
      term.includes('@') ? this.#users.byEmail(term) : undefined,
    ]);
    const shown = holder?.profile['public_email'];
    const byEmail = anyEmail || (typeof shown === 'string' && sameName(shown, term)) ? holder : undefined;
    const matches = (user: UserRecord) => user.id === byEmail?.id || hits.matches([user.name, user.username]);
    if (!hits.complete) return { complete: false, users: [], matches };
    const ids = byEmail === undefined ? hits.ids : [...new Set([...hits.ids, byEmail.id])];
    const users = (await this.#users.getMany(ids)).filter((user) => user !== undefined);
    return { complete: true, users, matches };
  }
}

const classesOf = ({
  states = USER_STATES,
  service = true,
}: Pick<UserQuery, 'states' | 'service'>): string[] => [
  ...states.map((state) => `USER#${state}`),
  ...(service ? [SERVICE] : []),
];

const INDEX = {
  id: 'byId',
  created_at: 'byId',
  name: 'byName',
  username: 'byPath',
  updated_at: 'byUpdated',
} as const;

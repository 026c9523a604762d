/**
 * Namespaces: users and groups. For administrators, who see all of them. Sorted by the ids of users and groups, merged;
 * within each kind in order of creation.
 */

import type { GroupRecord } from '../../records/groups.ts';
import { USER_STATES, type UserRecord } from '../../records/users.ts';
import { VISIBILITIES } from '../../records/visibility.ts';
import { groupClass, groupOf } from '../placement/group-item.ts';
import type { VisibilityFilter } from '../projects/query.ts';
import { groupKey } from '../row-keys/groups.ts';
import { padded } from '../row-keys/key.ts';
import { listPartitions } from '../row-keys/lists.ts';
import type { Search } from '../search/search.ts';
import { chunkFor, countSources, countWalk, cutPage, type Page, type PageRequest } from '../table/paging.ts';
import {
  type IndexPartition,
  indexSource,
  type KeySource,
  listSource,
  mergeKeys,
} from '../table/sorted-sources.ts';
import type { Table } from '../table/table.ts';
import { SERVICE } from '../users/item.ts';

export type ListedNamespace =
  | { readonly kind: 'user'; readonly user: UserRecord }
  | { readonly kind: 'group'; readonly group: GroupRecord };

export interface NamespaceQuery extends PageRequest {
  readonly filter: VisibilityFilter<GroupRecord>;
  /** Substring of a name or path, ignoring case. */
  readonly search?: string;
  /** Without subgroups. */
  readonly topLevelOnly?: boolean;
}

/** Users and groups have separate ids; in the merged list those of users are negative. */
const idOfUser = (id: number): number => -id;

export class NamespaceList {
  readonly #table: Table;
  readonly #search: Search;
  readonly #users: { getMany(ids: readonly number[]): Promise<(UserRecord | undefined)[]> };

  constructor(
    table: Table,
    search: Search,
    users: { getMany(ids: readonly number[]): Promise<(UserRecord | undefined)[]> },
  ) {
    this.#table = table;
    this.#search = search;
    this.#users = users;
  }

  async page(query: NamespaceQuery): Promise<Page<ListedNamespace>> {
    const term = query.search?.trim() ?? '';
    const after = query.rows?.after;
    const [users, groups] = await Promise.all(
      term === '' ? [] : [this.#search.find('user', term), this.#search.find('group', term)],
    );
    const load = (ids: readonly number[]) => this.#load(query, ids);
    const matches = (listed: ListedNamespace): boolean => {
      if (listed.kind === 'user')
        return users === undefined || users.matches([listed.user.name, listed.user.username]);
      const { name, path, parentId } = listed.group;
      if (query.topLevelOnly && parentId !== null) return false;
      return groups === undefined || groups.matches([name, path]);
    };
    if (users?.complete && groups?.complete) {
      const ids = [...users.ids.map(idOfUser), ...groups.ids];
      const keys = ids.map((id) => ({ sort: padded(Math.abs(id)), id }));
      // All matches are loaded: their number is limited, so the total is known.
      return cutPage(mergeKeys([listSource(keys, 'asc')], 'asc', after), query, {
        load,
        where: matches,
        countWalk: Number.POSITIVE_INFINITY,
      });
    }
    const ofUsers = [...USER_STATES.map((state) => `USER#${state}`), SERVICE].flatMap(listPartitions);
    const ofGroups = VISIBILITIES.map(groupClass).flatMap(listPartitions);
    const partitions = [...ofUsers, ...ofGroups].map(
      (partition): IndexPartition => ({ index: 'byId', partition }),
    );
    const chunk = chunkFor(query, partitions.length);
    const all = partitions.map((where) => indexSource(this.#table, where, 'asc', chunk, after));
    const sources = all.map((source, i) => (i < ofUsers.length ? asUsers(source) : source));
    const filtered = term !== '' || query.topLevelOnly === true;
    const [page, total] = await Promise.all([
      cutPage(mergeKeys(sources, 'asc', after), query, {
        load,
        where: filtered ? matches : undefined,
        countWalk: countWalk(term),
      }),
      query.count && !filtered ? countSources(all) : undefined,
    ]);
    return filtered ? page : { ...page, total };
  }

  async #load({ filter }: NamespaceQuery, ids: readonly number[]): Promise<(ListedNamespace | undefined)[]> {
    const groupIds = ids.filter((id) => id > 0);
    const [users, items] = await Promise.all([
      this.#users.getMany(ids.filter((id) => id < 0).map((id) => -id)),
      this.#table.batchGet(groupIds.map(groupKey)),
      filter.prefetch(groupIds),
    ]);
    const groups = items.map(groupOf);
    const levels = await filter.levels(groups);
    const found = new Map<number, ListedNamespace>();
    for (const user of users) if (user !== undefined) found.set(idOfUser(user.id), { kind: 'user', user });
    for (const [i, group] of groups.entries())
      if (group !== undefined && levels[i] !== undefined) found.set(group.id, { kind: 'group', group });
    return ids.map((id) => found.get(id));
  }
}

const asUsers = (source: KeySource): KeySource => ({
  next: async () => (await source.next()).map(({ sort, id }) => ({ sort, id: idOfUser(id) })),
});

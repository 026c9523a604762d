/** Lists of the groups a viewer may see, in three orders, by offset or by keyset. */

import type { GroupRecord } from '../../records/groups.ts';
import type { AccessLevel } from '../../records/members.ts';
import {
  type Attributes,
  haveAllAttributes,
  idsWithAttributes,
} from '../custom-attributes/custom-attributes.ts';
import type { Members } from '../members/members.ts';
import { AccessibleIds } from '../members/reachable.ts';
import { groupClass, groupItem, groupOf } from '../placement/group-item.ts';
import { hasText, type Viewer, type VisibilityFilter, visibleTo } from '../projects/query.ts';
import { groupKey } from '../row-keys/groups.ts';
import { listPartitions } from '../row-keys/lists.ts';
import { similarity } from '../search/relevance.ts';
import type { Search } from '../search/search.ts';
import { matchesWords, wordsOf } from '../search/trigrams.ts';
import type { Position } from '../table/cursor.ts';
import {
  allRows,
  type IdSource,
  idsBelowMovingGroups,
  idsOfTree,
  keysById,
  keysSorted,
  pendingMovesBelow,
  readOnce,
  unionOf,
} from '../table/id-sources.ts';
import {
  chunkFor,
  countSources,
  countWalk,
  cutPage,
  MAX_TOTAL,
  type Page,
  type PageRequest,
} from '../table/paging.ts';
import {
  behindRow,
  type Countable,
  comparing,
  type Direction,
  type IndexPartition,
  indexSource,
  type KeySource,
  listSource,
  mergeKeys,
} from '../table/sorted-sources.ts';
import type { Table } from '../table/table.ts';

export interface GroupQuery extends PageRequest {
  readonly viewer: Viewer;
  readonly filter: VisibilityFilter<GroupRecord>;
  /** `similarity`: to the search term, best match first, if all matches are known; else by name. */
  readonly order?: 'id' | 'name' | 'path' | 'similarity';
  readonly direction?: Direction;
  /** Every group the viewer may see; else those of memberships, and their visible ancestors. */
  readonly all: boolean;
  readonly below?: {
    readonly id: number;
    /** All descendants, not only children. */
    readonly deep: boolean;
    /** The viewer may see everything in the group, and the list is to include it. */
    readonly open: boolean;
  };
  /** Only groups the viewer is a direct member of. */
  readonly direct?: boolean;
  /** Only groups the viewer is a direct owner of. */
  readonly owned?: boolean;
  /** Only groups where the viewer has at least this access level. */
  readonly minAccessLevel?: AccessLevel;
  readonly topLevelOnly?: boolean;
  readonly skip?: readonly number[];
  /** Only groups with all of these custom attributes. */
  readonly attributes?: Attributes;
  /** Substring of name or path, ignoring case; with `below`, of the path only. */
  readonly search?: string;
  /** Only groups after this position in the order. */
  readonly after?: Position;
}

export interface ListedGroup {
  readonly group: GroupRecord;
  /** The viewer's access level, as determined by the query's filter. */
  readonly level: AccessLevel | 0;
}

const INDEX = { id: 'byId', name: 'byName', path: 'byPath', similarity: 'byName' } as const;
type Index = (typeof INDEX)[keyof typeof INDEX];

/** Groups loaded at once to determine a total. */
const LOAD_BATCH = 500;

export class GroupList {
  readonly #table: Table;
  readonly #search: Search;
  readonly #members: Members;

  constructor(table: Table, search: Search, members: Members) {
    this.#table = table;
    this.#search = search;
    this.#members = members;
  }

  async page({ after: named, ...asked }: GroupQuery): Promise<Page<ListedGroup>> {
    const after = named ?? asked.rows?.after;
    const query: GroupQuery = { ...asked, ...(after === undefined ? {} : { after }) };
    const direction = query.direction ?? 'asc';
    const index = INDEX[query.order ?? 'name'];
    const reach = this.#reach(query);
    const { below } = query;
    const pendingMoves = below?.deep ? pendingMovesBelow(this.#table, below.id) : async () => [];
    const load = this.#loader(query, reach, pendingMoves);
    if (hasText(query.search)) {
      const found = await this.#searched(query, load, index, direction);
      if (found !== undefined) return found;
    }
    const partitions = partitionsOf(query, index, direction);
    const found = this.#rows(query, reach, load, pendingMoves);
    // An order by names reads all of them, as the total does.
    const rows = found && index !== 'byId' ? readOnce(found) : found;
    const chunk = chunkFor(query, partitions.length + 1);
    const listed = partitions.map((p) => indexSource(this.#table, p, direction, chunk));
    const sources: KeySource[] = [...listed];
    if (rows !== undefined) {
      sources.push(
        index === 'byId'
          ? keysById(rows, direction, behindRow({}, direction, query.after?.sort), chunk)
          : await keysSorted(this.#table, rows, direction, { index, keyOf: groupKey }),
      );
    }
    const where = byKeysAlone(query) ? undefined : () => true;
    const [page, total] = await Promise.all([
      cutPage(following(mergeKeys(sources, direction), query.after, direction), query, {
        load,
        where,
        countWalk: countWalk(includesPublic(query) ? query.search : undefined),
      }),
      query.count && where === undefined ? this.#total(load, partitions, listed, rows) : undefined,
    ]);
    return where === undefined ? { ...page, total } : page;
  }

  #reach({ viewer, owned }: GroupQuery): AccessibleIds | undefined {
    if (viewer.kind === 'anonymous') return undefined;
    return new AccessibleIds(this.#table, this.#members, viewer.id, owned ? 50 : 0);
  }

  /** The rows to merge with the public lists, or that are the whole list. */
  #rows(
    query: GroupQuery,
    reach: AccessibleIds | undefined,
    load: Load,
    pendingMoves: PendingMoves,
  ): IdSource | undefined {
    const { below, attributes } = query;
    if (attributes !== undefined) return idsWithAttributes(this.#table, 'group', attributes);
    if (below !== undefined) {
      return unionOf(async () => [
        idsOfTree(this.#table, below.id, 'DIRECT', 'group'),
        ...(below.deep
          ? [
              idsOfTree(this.#table, below.id, 'DEEP', 'group'),
              idsBelowMovingGroups(this.#table, pendingMoves, 'group'),
            ]
          : []),
      ]);
    }
    if (query.owned || query.direct) return reach?.direct();
    // An administrator's list of all groups includes these already.
    if (query.viewer.kind === 'admin' && includesPublic(query)) return undefined;
    return reach?.groups(load, { ancestors: query.minAccessLevel === undefined });
  }

  /** Loads records, and leaves out those that the viewer may not see. */
  #loader(query: GroupQuery, reach: AccessibleIds | undefined, pendingMoves: PendingMoves): Load {
    const words = wordsOf(query.search ?? '');
    return async (ids) => {
      const [items, haveAttributes, moving] = await Promise.all([
        this.#table.batchGet(ids.map(groupKey)),
        haveAllAttributes(this.#table, 'group', ids, query.attributes),
        pendingMoves(),
        query.filter.prefetch(ids),
      ]);
      const records = items.map(groupOf);
      const levels = await query.filter.levels(records);
      const listed = records.map(async (group, i) => {
        const level = levels[i];
        if (
          group === undefined ||
          level === undefined ||
          !haveAttributes[i] ||
          !passes(query, words, { group, level }, moving)
        )
          return undefined;
        if ((query.owned || query.direct) && !(await reach?.isDirectMember(group.id))) return undefined;
        // Ancestors of the viewer's groups are listed with them.
        return query.all || level > 0 || (await reach?.isAbove(group.id)) ? { group, level } : undefined;
      });
      return Promise.all(listed);
    };
  }

  async #total(
    load: Load,
    partitions: readonly IndexPartition[],
    listed: readonly Countable[],
    rows: IdSource | undefined,
  ): Promise<number | undefined> {
    const publicTotal = await countSources(listed);
    if (publicTotal === undefined || rows === undefined) return publicTotal;
    const counted = new Set(partitions.map((p) => p.partition.slice(0, p.partition.lastIndexOf('#'))));
    const unknown: number[] = [];
    let others = 0;
    for await (const { id, visibility } of allRows(rows)) {
      if (visibility === undefined) unknown.push(id);
      else if (!counted.has(groupClass(visibility as GroupRecord['visibility']))) others++;
      if (others + unknown.length > MAX_TOTAL) return undefined;
    }
    for (let i = 0; i < unknown.length; i += LOAD_BATCH) {
      for (const listed of await load(unknown.slice(i, i + LOAD_BATCH))) {
        if (listed !== undefined && !counted.has(groupClass(listed.group.visibility))) others++;
      }
    }
    const total = publicTotal + others;
    return total > MAX_TOTAL ? undefined : total;
  }

  /** @returns undefined when there are so many matches that walking the list in its order is faster. */
  async #searched(
    query: GroupQuery,
    load: Load,
    index: Index,
    requestedDirection: Direction,
  ): Promise<Page<ListedGroup> | undefined> {
    const term = query.search!.trim();
    const hits = await this.#search.find('group', term);
    if (!hits.complete) return undefined;
    const matching = (await load(hits.ids)).filter((listed) => listed !== undefined);
    const byId = new Map(matching.map((listed) => [listed.group.id, listed]));
    const bySimilarity = query.order === 'similarity';
    const direction = bySimilarity ? 'asc' : requestedDirection;
    const keys = matching.map(({ group }) => ({
      // Equal matches are sorted by name.
      sort: `${bySimilarity ? 9 - similarity(term, group) : ''}${groupItem(group)[index]}`,
      id: group.id,
    }));
    const merged = mergeKeys([listSource(keys, direction)], direction);
    const page = await cutPage(following(merged, query.after, direction), query, {
      load: async (ids) => ids.map((id) => byId.get(id)),
    });
    return { ...page, total: query.count ? matching.length : undefined };
  }
}

/** Groups that were moved in below the requested one, and whose descendants have no rows there yet. */
type PendingMoves = () => Promise<readonly number[]>;
type Load = (ids: readonly number[]) => Promise<(ListedGroup | undefined)[]>;

/** Whether the list includes everything visible to viewers of this kind. */
const includesPublic = ({ all, attributes, below, direct, owned, minAccessLevel }: GroupQuery): boolean =>
  all && attributes === undefined && below === undefined && !direct && !owned && minAccessLevel === undefined;

function partitionsOf(query: GroupQuery, index: Index, direction: Direction): IndexPartition[] {
  if (!includesPublic(query)) return [];
  return visibleTo(query.viewer)
    .flatMap((visibility) => listPartitions(groupClass(visibility)))
    .map((partition) => behindRow<IndexPartition>({ index, partition }, direction, query.after?.sort));
}

/** Whether the keys alone determine the list; else every record has to be loaded. */
function byKeysAlone({ below, minAccessLevel, topLevelOnly, skip, search, ...query }: GroupQuery): boolean {
  if (query.attributes !== undefined) return false;
  if (minAccessLevel !== undefined || topLevelOnly || (skip ?? []).length > 0 || hasText(search))
    return false;
  return below === undefined || (below.open && !query.owned && !query.direct);
}

/** Whether a loaded group matches the query; checks the keys' conditions too, because rows may be stale. */
function passes(
  query: GroupQuery,
  words: readonly string[],
  { group, level }: ListedGroup,
  pendingMoves: readonly number[],
): boolean {
  const { below, minAccessLevel } = query;
  if (below !== undefined) {
    const isAncestor = (id: number) => group.ancestorIds.includes(id);
    if (below.deep ? !isAncestor(below.id) && !pendingMoves.some(isAncestor) : group.parentId !== below.id)
      return false;
  }
  return (
    (!query.owned || level >= 50) &&
    (minAccessLevel === undefined || level >= minAccessLevel) &&
    !(query.topLevelOnly && group.parentId !== null) &&
    !query.skip?.includes(group.id) &&
    (words.length === 0 || matchesWords(words, below === undefined ? [group.name, group.path] : [group.path]))
  );
}

/** The keys after a position in their order. */
async function* following(
  keys: AsyncGenerator<Position>,
  after: Position | undefined,
  direction: Direction,
): AsyncGenerator<Position> {
  const compare = comparing(direction);
  for await (const key of keys) if (after === undefined || compare(key, after) > 0) yield key;
}

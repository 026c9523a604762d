/** Lists of the projects a viewer may see, in several orders, by offset or by keyset. */

import type { SortedSize } from '../../records/storage-sizes.ts';
import type { Visibility } from '../../records/visibility.ts';
import { haveAllAttributes, idsWithAttributes } from '../custom-attributes/custom-attributes.ts';
import type { Members } from '../members/members.ts';
import { AccessibleIds } from '../members/reachable.ts';
import { bySize, fromItem, listClass, sortValues } from '../placement/project-item.ts';
import { MAX_ID } from '../row-keys/key.ts';
import { listPartitions } from '../row-keys/lists.ts';
import { projectKey } from '../row-keys/projects.ts';
import { projectSizeClass } from '../row-keys/statistics.ts';
import { similarity } from '../search/relevance.ts';
import type { Hits, Search } from '../search/search.ts';
import { wordsOf } from '../search/trigrams.ts';
import type { Position } from '../table/cursor.ts';
import {
  allRows,
  filteredBy,
  fixedIds,
  type IdSource,
  idsBelow,
  idsBelowMovingGroups,
  idsOfForks,
  idsOfTree,
  idsOfUser,
  keysById,
  keysSorted,
  pendingMovesBelow,
  type Row,
  readOnce,
  unionOf,
} from '../table/id-sources.ts';
import {
  chunkFor,
  countPartitions,
  countSources,
  countWalk,
  cutPage,
  MAX_TOTAL,
  type Page,
} from '../table/paging.ts';
import {
  behindRow,
  type Countable,
  type Direction,
  type IndexPartition,
  indexSource,
  type KeySource,
  keyedBy,
  listSource,
  mergeKeys,
  without,
} from '../table/sorted-sources.ts';
import type { Table } from '../table/table.ts';
import type { Item } from '../table/write.ts';
import { idsOfTopic } from '../topics/assignments.ts';
import {
  bounds,
  filterOf,
  hasClass,
  hasText,
  INDEX,
  inClass,
  type ListedProject,
  onlyRows,
  type ProjectOrder,
  type ProjectQuery,
  partitionsOf,
  passes,
  sizeOf,
} from './query.ts';

/** Attributes that lists filter by and rows do not hold. */
const CLASS = ['visibility', 'archived'];
/** Maximum number of groups and users whose projects a search in namespaces includes. */
const MAX_NAMESPACES = 100;
/** Maximum number of projects in them. */
const MAX_HITS = 2000;
/** Projects loaded at once to determine a total. */
const LOAD_BATCH = 500;
/** Projects that have a size, passed over on the way to those that have none. */
const MAX_PASSED = 100_000;

/** Groups that were moved in below the requested one, and whose descendants have no rows there yet. */
type PendingMoves = () => Promise<readonly number[]>;
type Load = (ids: readonly number[]) => Promise<(ListedProject | undefined)[]>;

export class ProjectList {
  readonly #table: Table;
  readonly #search: Search;
  readonly #members: Members;

  constructor(table: Table, search: Search, members: Members) {
    this.#table = table;
    this.#search = search;
    this.#members = members;
  }

  async page(query: ProjectQuery): Promise<Page<ListedProject>> {
    const direction = query.direction ?? 'desc';
    const order = query.order ?? 'created_at';
    const index = INDEX[order];
    // These are few, and not in the search rows.
    if (hasText(query.search) && query.starredBy === undefined && query.among === undefined) {
      const found = await this.#searched(query, order, direction);
      if (found !== undefined) return found;
    }
    const size = sizeOf(order);
    if (size !== undefined && !onlyRows(query)) return this.#bySize(query, size, direction);
    const partitions = partitionsOf(query, index);
    const pendingMoves = this.#pendingMoves(query);
    const load = this.#loader(query, pendingMoves);
    const found = this.#rows(query, load, pendingMoves);
    // Other orders than by id read all of them, as the total does.
    const rows = found && index !== 'byId' ? readOnce(found) : found;
    const chunk = chunkFor(query, partitions.length + 1);
    const after = query.rows?.after;
    const listed = partitions.map((p) => indexSource(this.#table, p, direction, chunk, after));
    const sources: KeySource[] = [...listed];
    if (rows !== undefined) sources.push(await this.#keys(query, rows, order, direction, chunk));
    const where = filterOf(query, index);
    const [page, total] = await Promise.all([
      cutPage(mergeKeys(sources, direction, after), query, {
        load,
        where,
        countWalk: countWalk(onlyRows(query) ? undefined : query.search),
      }),
      query.count && where === undefined ? this.#total(query, load, partitions, listed, rows) : undefined,
    ]);
    return where === undefined ? { ...page, total } : page;
  }

  /** The projects that have a size in its order, and those that have none. For administrators, who see all. */
  async #bySize(query: ProjectQuery, size: SortedSize, direction: Direction): Promise<Page<ListedProject>> {
    const all = partitionsOf(query, 'byId');
    const sized = listPartitions(projectSizeClass(size));
    const chunk = chunkFor(query, all.length);
    const from = (where: IndexPartition) => indexSource(this.#table, where, direction, chunk);
    const filled = sized
      .map((partition) => from({ index: 'bySize', partition }))
      .map((keys) => (hasClass(query) ? this.#inClass(query, keys, chunk) : keys));
    // What stores nothing has an empty repository.
    const others =
      size === 'storageSize'
        ? all.map(({ partition }) => from({ index: 'bySize', partition, to: bySize(0, MAX_ID) }))
        : all.map(from);
    const empty = others.map((keys) => keyedBy(keys, (id) => bySize(0, id)));
    let isCut = false;
    const cut = () => void (isCut = true);
    async function* rising(byId: readonly KeySource[]) {
      yield* without(mergeKeys(empty, 'asc'), mergeKeys(byId, 'asc'), MAX_PASSED, cut);
      if (!isCut) yield* mergeKeys(filled, 'asc');
    }
    const keys =
      direction === 'desc'
        ? mergeKeys([...filled, ...empty], 'desc')
        : rising(sized.map((partition) => from({ index: 'byId', partition })));
    const where = filterOf(query, 'bySize');
    const [page, total] = await Promise.all([
      cutPage(keys, query, { load: this.#loader(query), where, countWalk: countWalk(query.search) }),
      query.count && where === undefined ? countPartitions(this.#table, all) : undefined,
    ]);
    const counted = where === undefined ? { ...page, total } : page;
    return isCut ? { ...counted, total: undefined, truncated: true } : counted;
  }

  /** The rows to merge with the public lists, or that are the whole list. */
  #rows(query: ProjectQuery, load: Load, pendingMoves: PendingMoves): IdSource | undefined {
    const { viewer, inGroup } = query;
    const table = this.#table;
    if (query.starredBy !== undefined) return idsOfUser(table, query.starredBy, 'STAR');
    if (query.among !== undefined) return fixedIds([...query.among].map((id) => ({ id })));
    if (query.attributes !== undefined) return idsWithAttributes(table, 'project', query.attributes);
    if (query.forksOf !== undefined) return idsOfForks(table, query.forksOf);
    if (query.ownerId !== undefined) return idsOfUser(table, query.ownerId, 'OWN');
    if (query.ofTopic !== undefined) return idsOfTopic(table, query.ofTopic);
    if (inGroup !== undefined) {
      const shared = filteredBy(idsOfTree(table, inGroup.id, 'SHARED', 'project'), load);
      if (inGroup.shared === 'only') return shared;
      return unionOf(async () => [
        idsOfTree(table, inGroup.id, 'DIRECT', 'project'),
        ...(inGroup.deep
          ? [
              idsOfTree(table, inGroup.id, 'DEEP', 'project'),
              idsBelowMovingGroups(table, pendingMoves, 'project'),
            ]
          : []),
        ...(inGroup.shared ? [shared] : []),
      ]);
    }
    if (viewer.kind === 'anonymous') return undefined;
    if (query.owned) {
      const accessible = new AccessibleIds(table, this.#members, viewer.id, 50);
      return unionOf(async () => [idsOfUser(table, viewer.id, 'OWN'), accessible.projects(load)]);
    }
    if (!onlyRows(query)) {
      // An administrator's lists include these already.
      if (viewer.kind === 'admin') return undefined;
      // The viewer's own public projects are in the public list.
      if (query.visibility === 'public' || (query.visibility === 'internal' && viewer.internal))
        return undefined;
    }
    const accessible = new AccessibleIds(table, this.#members, viewer.id);
    return unionOf(async () => [
      idsOfUser(table, viewer.id, 'OWN'),
      idsOfUser(table, viewer.id, 'MEMBER'),
      accessible.projects(load),
    ]);
  }

  async #keys(
    query: ProjectQuery,
    rows: IdSource,
    order: ProjectOrder,
    direction: Direction,
    chunk: number,
  ): Promise<KeySource> {
    const [index, size] = [INDEX[order], sizeOf(order)];
    if (index !== 'byId') {
      const wanted = ({ visibility }: Row) =>
        visibility === undefined || query.visibility === undefined || visibility === query.visibility;
      const keep = (item: Item) => inClass(query, item);
      const sorted =
        size === undefined
          ? { index }
          : {
              index: size,
              sortOf: ({ [size]: bytes = 0 }: Item, id: number) => bySize(bytes as number, id),
            };
      const by = { ...sorted, keyOf: projectKey, wanted, with: CLASS, keep };
      return keysSorted(this.#table, rows, direction, by);
    }
    const keys = keysById(
      rows,
      direction,
      behindRow(bounds(query, index), direction, query.rows?.after?.sort),
      chunk,
    );
    return hasClass(query) ? this.#inClass(query, keys, chunk) : keys;
  }

  /** Filters keys by attributes that rows do not hold, by reading these from the records. */
  #inClass(query: ProjectQuery, keys: KeySource, chunk: number): KeySource {
    return {
      next: async () => {
        for (;;) {
          const batch: Position[] = [];
          while (batch.length < chunk) {
            const more = await keys.next();
            if (more.length === 0) break;
            batch.push(...more);
          }
          if (batch.length === 0) return [];
          const items = await this.#table.batchGet(
            batch.map(({ id }) => projectKey(id)),
            { only: CLASS },
          );
          const matching = batch.filter((_, i) => inClass(query, items[i]));
          if (matching.length > 0) return matching;
        }
      },
    };
  }

  #pendingMoves({ inGroup }: ProjectQuery): PendingMoves {
    return inGroup?.deep ? pendingMovesBelow(this.#table, inGroup.id) : async () => [];
  }

  /** Loads records, and leaves out those that the viewer may not see. */
  #loader(query: ProjectQuery, pendingMoves = this.#pendingMoves(query)): Load {
    const words = wordsOf(query.search ?? '');
    return async (ids) => {
      const [items, haveAttributes, below] = await Promise.all([
        this.#table.batchGet(ids.map(projectKey)),
        haveAllAttributes(this.#table, 'project', ids, query.attributes),
        pendingMoves(),
        query.filter.prefetch(ids),
      ]);
      const records = items.map(fromItem);
      const levels = await query.filter.levels(records);
      return records.map((project, i) => {
        const level = levels[i];
        if (project === undefined || level === undefined || !haveAttributes[i]) return undefined;
        return passes(query, words, { project, level }, below) ? { project, level } : undefined;
      });
    };
  }

  async #total(
    query: ProjectQuery,
    load: Load,
    partitions: readonly IndexPartition[],
    listed: readonly Countable[],
    rows: IdSource | undefined,
  ): Promise<number | undefined> {
    const publicTotal = await countSources(listed);
    if (publicTotal === undefined || rows === undefined) return publicTotal;
    const own = new Map<number, Row>();
    for await (const row of allRows(rows)) {
      own.set(row.id, row);
      if (own.size > MAX_TOTAL) return undefined;
    }
    const total = publicTotal + (await this.#countOthers(query, load, partitions, own));
    return total > MAX_TOTAL ? undefined : total;
  }

  /** Counts the rows that are in none of the partitions: usually the private ones. */
  async #countOthers(
    query: ProjectQuery,
    load: Load,
    partitions: readonly IndexPartition[],
    own: ReadonlyMap<number, Row>,
  ): Promise<number> {
    const counted = new Set(partitions.map((p) => p.partition.slice(0, p.partition.lastIndexOf('#'))));
    const unknown: number[] = [];
    let count = 0;
    for (const [id, { visibility }] of own) {
      if (query.archived !== undefined) unknown.push(id);
      else if (visibility !== undefined) {
        if (query.visibility !== undefined && query.visibility !== visibility) continue;
        if (!counted.has(listClass(visibility as Visibility, false))) count++;
      } else if (partitions.length === 0 && query.visibility === undefined) count++;
      else unknown.push(id);
    }
    for (let i = 0; i < unknown.length; i += LOAD_BATCH) {
      for (const listed of await load(unknown.slice(i, i + LOAD_BATCH))) {
        if (listed === undefined) continue;
        if (!counted.has(listClass(listed.project.visibility, listed.project.archived))) count++;
      }
    }
    return count;
  }

  /** @returns undefined when there are so many matches that walking the list in its order is faster. */
  async #searched(
    query: ProjectQuery,
    order: ProjectOrder,
    requestedDirection: Direction,
  ): Promise<Page<ListedProject> | undefined> {
    const term = query.search!.trim();
    const hits = await (query.searchNamespaces
      ? this.#inNamespaces(term)
      : this.#search.find('project', term));
    if (!hits.complete) return undefined;
    const loaded = await this.#loader(query)(hits.ids);
    const matching = loaded.filter((listed) => listed !== undefined && (query.where?.(listed) ?? true));
    const byId = new Map(matching.map((listed) => [listed!.project.id, listed!]));
    const bySimilarity = order === 'similarity';
    const size = sizeOf(order);
    const direction = bySimilarity ? 'desc' : requestedDirection;
    const keys = [...byId.values()].map(({ project }) => ({
      sort: bySimilarity
        ? String(similarity(term, project))
        : size === undefined
          ? sortValues(project)[INDEX[order]]
          : bySize(project[size] ?? 0, project.id),
      id: project.id,
    }));
    const sorted = mergeKeys([listSource(keys, direction)], direction, query.rows?.after);
    const page = await cutPage(sorted, query, {
      load: async (ids) => ids.map((id) => byId.get(id)),
    });
    return { ...page, total: query.count ? matching.length : undefined };
  }

  /** Candidates for a term: projects that match by name, and projects of namespaces that match. */
  async #inNamespaces(term: string): Promise<Pick<Hits, 'ids' | 'complete'>> {
    // The term may be a path: its longest segment is part of the name of a project or namespace.
    const parts = wordsOf(term).flatMap((word) => word.split('/'));
    const part = parts.reduce((longest, each) => (each.length > longest.length ? each : longest), '');
    const [projects, groups, users] = await Promise.all(
      (['project', 'group', 'user'] as const).map((kind) => this.#search.find(kind, part)),
    );
    const complete = projects!.complete && groups!.complete && users!.complete;
    const namespaces = groups!.ids.length + users!.ids.length;
    if (!complete || namespaces > MAX_NAMESPACES) return { ids: [], complete: false };
    const table = this.#table;
    const rows = unionOf(async () => [
      fixedIds(projects!.ids.map((id) => ({ id }))),
      ...idsBelow(table, groups!.ids, 'project'),
      ...users!.ids.map((id) => idsOfUser(table, id, 'OWN')),
    ]);
    const ids: number[] = [];
    for await (const { id } of allRows(rows)) {
      if (ids.length === MAX_HITS) return { ids: [], complete: false };
      ids.push(id);
    }
    return { ids, complete: true };
  }
}

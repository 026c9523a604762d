/** Lists of projects: who sees which, in six orders, by offset or by keyset. */
import type { Position } from './cursor.ts';
import { FORK, idOf, listPartitions, padded, projectKey, userPartition } from './keys.ts';
import { isExpired, type Members } from './members.ts';
import {
  chunkFor,
  countPartitions,
  cutPage,
  type Direction,
  type IndexPartition,
  indexSource,
  type KeySource,
  listSource,
  MAX_TOTAL,
  mergeKeys,
  type Page,
  type PageRequest,
  type Range,
} from './paging.ts';
import { fromItem, listClass, sortValues } from './project-item.ts';
import type { AccessLevel, MemberRecord, ProjectRecord, Visibility } from './records.ts';
import type { Search } from './search.ts';
import type { Table } from './table.ts';
import { matchesWords, wordsOf } from './trigrams.ts';
import type { Item } from './write.ts';

/** Who looks. `internal`: may see internal projects (external users may not). */
export type Viewer =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'user'; readonly id: number; readonly internal: boolean }
  | { readonly kind: 'admin'; readonly id: number };

export type ProjectOrder = 'id' | 'name' | 'path' | 'created_at' | 'updated_at' | 'last_activity_at';

export interface ProjectQuery extends PageRequest {
  readonly viewer: Viewer;
  readonly order?: ProjectOrder;
  readonly direction?: Direction;
  readonly visibility?: Visibility;
  readonly archived?: boolean;
  /** Only projects the viewer is a member or the owner of. */
  readonly membership?: boolean;
  /** Only projects in the viewer's personal namespace. */
  readonly owned?: boolean;
  /** Only projects in this user's personal namespace. */
  readonly ownerId?: number;
  /** Only forks of this project. */
  readonly forksOf?: number;
  /** Only projects where the viewer holds at least this. */
  readonly minAccessLevel?: AccessLevel;
  /** Exclusive; with order `id` or `created_at` this is the keyset. */
  readonly idAfter?: number;
  readonly idBefore?: number;
  /** ISO 8601 UTC with milliseconds, exclusive. */
  readonly lastActivityAfter?: string;
  readonly lastActivityBefore?: string;
  /** Substring of name or path, without case. */
  readonly search?: string;
  /** A further condition; every project on the way is loaded for it, 5,000 at most. */
  readonly where?: (listed: ListedProject) => boolean;
}

export interface ListedProject {
  readonly project: ProjectRecord;
  /** The viewer's own membership, if any; an owner may have none. */
  readonly member: MemberRecord | undefined;
}

const VISIBILITIES: readonly Visibility[] = ['public', 'internal', 'private'];
/** The most rows of one user that are sorted in memory for an order other than by id. */
const MAX_ROWS = 10_000;

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
    const index = INDEX[query.order ?? 'created_at'];
    const load = this.#loader(query);
    const term = query.search?.trim() ?? '';
    if (term !== '') {
      const found = await this.#searched(query, term, index, direction);
      if (found !== undefined) return found;
    }
    const partitions = this.#partitions(query, index);
    const rows = this.#rowKinds(query);
    if (query.forksOf !== undefined) return this.#forks(query, query.forksOf, index, direction);
    const chunk = chunkFor(query, partitions.length + rows.length);
    const sources: KeySource[] = partitions.map((p) => indexSource(this.#table, p, direction, chunk));
    for (const { userId, row } of rows) {
      sources.push(
        index === 'byId'
          ? rowSource(this.#table, query, { userId, row }, direction, chunk)
          : listSource(await this.#sortedRows(query, { userId, row }, index), direction),
      );
    }
    const where = byKeysAlone(query, index)
      ? undefined
      : (listed: ListedProject) => query.where?.(listed) ?? true;
    const [page, total] = await Promise.all([
      cutPage(mergeKeys(sources, direction), query, { load, where }),
      query.count && where === undefined ? this.#total(query, partitions, rows) : undefined,
    ]);
    return where === undefined ? { ...page, total } : page;
  }

  /**
   * Forks of one project stand in rows of its own, by id; every one on the way is loaded, because who may see it is
   * its own business. In another order they are sorted in memory, 10,000 at most.
   */
  async #forks(
    query: ProjectQuery,
    parentId: number,
    index: Index,
    direction: Direction,
  ): Promise<Page<ListedProject>> {
    const load = this.#loader(query);
    let source: KeySource;
    if (index === 'byId') source = forkSource(this.#table, query, parentId, direction);
    else {
      const ids: number[] = [];
      const rows = { partition: projectKey(parentId).pk, prefix: FORK, only: ['sk'] };
      for await (const { sk } of this.#table.queryAll(rows)) {
        ids.push(idOf(sk as string));
        if (ids.length >= MAX_ROWS) break;
      }
      const items = await this.#table.batchGet(ids.map(projectKey), { only: [index] });
      const keys = items.flatMap((item, i) => {
        const sort = item?.[index];
        return typeof sort === 'string' ? [{ sort, id: ids[i]! }] : [];
      });
      source = listSource(keys, direction);
    }
    return cutPage(mergeKeys([source], direction), query, {
      load,
      where: (listed) => query.where?.(listed) ?? true,
    });
  }

  /** The index partitions that hold what everybody of the viewer's kind sees. */
  #partitions(query: ProjectQuery, index: Index): IndexPartition[] {
    if (onlyRows(query)) return [];
    const { viewer } = query;
    const seen = VISIBILITIES.filter(
      (v) =>
        viewer.kind === 'admin' ||
        v === 'public' ||
        (v === 'internal' && viewer.kind === 'user' && viewer.internal),
    ).filter((v) => query.visibility === undefined || v === query.visibility);
    const archived = query.archived === undefined ? [false, true] : [query.archived];
    return seen
      .flatMap((visibility) => archived.map((a) => listClass(visibility, a)))
      .flatMap((listed) => listPartitions(listed))
      .map((partition) => ({ index, partition, ...bounds(query, index) }));
  }

  /** The rows under users that have to be merged in. */
  #rowKinds(query: ProjectQuery): Rows[] {
    const { viewer } = query;
    if (query.ownerId !== undefined) return [{ userId: query.ownerId, row: 'OWN' }];
    if (viewer.kind === 'anonymous') return [];
    if (query.owned) return [{ userId: viewer.id, row: 'OWN' }];
    // An administrator's lists hold everything already.
    if (viewer.kind === 'admin' && !onlyRows(query)) return [];
    // Whoever asks for public projects finds their own among everybody's.
    const everyones =
      query.visibility === 'public' ||
      (query.visibility === 'internal' && viewer.kind === 'user' && viewer.internal);
    if (everyones && !onlyRows(query)) return [];
    return [
      { userId: viewer.id, row: 'OWN' },
      { userId: viewer.id, row: 'MEMBER' },
    ];
  }

  /** Loads records and the viewer's memberships, and leaves out what the viewer may not see (any more). */
  #loader(query: ProjectQuery) {
    const { viewer } = query;
    const words = wordsOf(query.search ?? '');
    return async (ids: readonly number[]): Promise<(ListedProject | undefined)[]> => {
      const [items, members] = await Promise.all([
        this.#table.batchGet(ids.map(projectKey)),
        viewer.kind === 'anonymous'
          ? []
          : this.#members.ofUserIn(
              viewer.id,
              ids.map((id) => ({ kind: 'project', id })),
            ),
      ]);
      return items.map((item, i) => {
        const project = fromItem(item);
        if (project === undefined) return undefined;
        const listed = { project, member: members[i] };
        return seen(viewer, listed) && passes(query, words, listed) ? listed : undefined;
      });
    };
  }

  /** A user's rows in an order that the rows themselves do not have. */
  async #sortedRows(query: ProjectQuery, { userId, row }: Rows, index: Index): Promise<Position[]> {
    const ids: number[] = [];
    const rows = { index: 'byUser', partition: userPartition(userId), prefix: `${row}#` } as const;
    for await (const item of this.#table.queryAll(rows)) {
      if (over(item)) continue;
      ids.push(idOf(item['what'] as string));
      if (ids.length >= MAX_ROWS) break;
    }
    const only = [index, 'visibility', 'archived'];
    const items = await this.#table.batchGet(ids.map(projectKey), { only });
    return items.flatMap((item, i) => {
      const sort = item?.[index];
      return typeof sort === 'string' && inClass(query, item!) ? [{ sort, id: ids[i]! }] : [];
    });
  }

  async #total(
    query: ProjectQuery,
    partitions: readonly IndexPartition[],
    rows: readonly Rows[],
  ): Promise<number | undefined> {
    const everyones = await countPartitions(this.#table, partitions);
    if (everyones === undefined || rows.length === 0) return everyones;
    const own = new Map<number, Item>();
    for (const { userId, row } of rows) {
      const of = { index: 'byUser', partition: userPartition(userId), prefix: `${row}#` } as const;
      for await (const item of this.#table.queryAll(of)) {
        if (over(item)) continue;
        const id = idOf(item['what'] as string);
        // The row of ownership tells the visibility; it comes first and stays.
        if (!own.has(id)) own.set(id, item);
        if (own.size > MAX_TOTAL) return undefined;
      }
    }
    if (onlyRows(query) && !hasClass(query)) return own.size;
    const total = everyones + (await this.#besides(query, partitions, own));
    return total > MAX_TOTAL ? undefined : total;
  }

  /** How many of the viewer's own rows no partition holds already: the private ones, as a rule. */
  async #besides(
    query: ProjectQuery,
    partitions: readonly IndexPartition[],
    own: ReadonlyMap<number, Item>,
  ): Promise<number> {
    const counted = new Set(partitions.map((p) => p.partition.slice(0, p.partition.lastIndexOf('#'))));
    const unknown: number[] = [];
    let count = 0;
    for (const [id, { visibility }] of own) {
      if (typeof visibility !== 'string' || query.archived !== undefined) unknown.push(id);
      else if (query.visibility !== undefined && query.visibility !== visibility) continue;
      else if (!counted.has(listClass(visibility as Visibility, false))) count++;
    }
    const load = this.#loader(query);
    for (let i = 0; i < unknown.length; i += 500) {
      for (const listed of await load(unknown.slice(i, i + 500))) {
        if (listed === undefined) continue;
        if (!counted.has(listClass(listed.project.visibility, listed.project.archived))) count++;
      }
    }
    return count;
  }

  /** @returns undefined when so many match that walking the list in its order finds them sooner. */
  async #searched(
    query: ProjectQuery,
    term: string,
    index: Index,
    direction: Direction,
  ): Promise<Page<ListedProject> | undefined> {
    const hits = await this.#search.find('project', term);
    if (!hits.complete) return undefined;
    const loaded = await this.#loader(query)(hits.ids);
    const matching = loaded.filter(
      (listed) =>
        listed !== undefined &&
        hits.matches([listed.project.name, listed.project.path]) &&
        (query.where?.(listed) ?? true) &&
        inRows(query, listed),
    ) as ListedProject[];
    const byId = new Map(matching.map((listed) => [listed.project.id, listed]));
    const keys = matching.map(({ project }) => ({ sort: sortValues(project)[index], id: project.id }));
    const page = await cutPage(mergeKeys([listSource(keys, direction)], direction), query, {
      load: async (ids) => ids.map((id) => byId.get(id)),
    });
    return { ...page, total: query.count ? matching.length : undefined };
  }
}

const INDEX = {
  id: 'byId',
  created_at: 'byId',
  name: 'byName',
  path: 'byPath',
  updated_at: 'byUpdated',
  last_activity_at: 'byActivity',
} as const;
type Index = (typeof INDEX)[ProjectOrder];

/** Whether the list is made of one user's rows and nothing else. */
const onlyRows = (query: ProjectQuery): boolean =>
  query.viewer.kind !== 'anonymous'
    ? query.owned === true ||
      query.membership === true ||
      query.minAccessLevel !== undefined ||
      query.ownerId !== undefined
    : query.ownerId !== undefined;

/** Whether a project found another way stands in those rows. */
function inRows(query: ProjectQuery, { project, member }: ListedProject): boolean {
  const { viewer, ownerId } = query;
  if (query.forksOf !== undefined && project.forkedFromId !== query.forksOf) return false;
  const ownedBy = (id: number) => project.namespaceKind === 'user' && project.ownerId === id;
  if (ownerId !== undefined && !ownedBy(ownerId)) return false;
  if (viewer.kind === 'anonymous' || !onlyRows(query)) return true;
  if (query.owned && !ownedBy(viewer.id)) return false;
  if (query.membership && !ownedBy(viewer.id) && member === undefined) return false;
  return true;
}

/** Whether keys alone decide what is in the list; else every record on the way is loaded. */
function byKeysAlone(query: ProjectQuery, index: Index): boolean {
  const { viewer } = query;
  const activity = query.lastActivityAfter ?? query.lastActivityBefore;
  const ids = query.idAfter ?? query.idBefore;
  if (query.where !== undefined || (query.search?.trim() ?? '') !== '') return false;
  if (query.minAccessLevel !== undefined) return false;
  if (ids !== undefined && index !== 'byId') return false;
  if (activity !== undefined && index !== 'byActivity') return false;
  if (!onlyRows(query)) return true;
  if (activity !== undefined || (query.membership && query.ownerId !== undefined)) return false;
  return (
    query.ownerId === undefined ||
    viewer.kind === 'admin' ||
    (viewer.kind === 'user' && viewer.id === query.ownerId)
  );
}

/** The conditions of the query on a loaded project; those of the keys too, because indexes may be late. */
function passes(query: ProjectQuery, words: readonly string[], listed: ListedProject): boolean {
  const { project } = listed;
  return (
    (query.visibility === undefined || project.visibility === query.visibility) &&
    (query.archived === undefined || project.archived === query.archived) &&
    (query.idAfter === undefined || project.id > query.idAfter) &&
    (query.idBefore === undefined || project.id < query.idBefore) &&
    (query.lastActivityAfter === undefined || project.lastActivityAt > query.lastActivityAfter) &&
    (query.lastActivityBefore === undefined || project.lastActivityAt < query.lastActivityBefore) &&
    (query.minAccessLevel === undefined || levelOf(query.viewer, listed) >= query.minAccessLevel) &&
    (words.length === 0 || matchesWords(words, [project.name, project.path])) &&
    inRows(query, listed)
  );
}

function levelOf(viewer: Viewer, { project, member }: ListedProject): number {
  if (viewer.kind === 'anonymous') return 0;
  if (project.namespaceKind === 'user' && project.ownerId === viewer.id) return 50;
  return member?.accessLevel ?? 0;
}

/** Whether the viewer may know of the project: the record decides, not the list it was found in. */
function seen(viewer: Viewer, listed: ListedProject): boolean {
  const { project } = listed;
  if (project.deletedAt !== null) return false;
  if (project.visibility === 'public' || viewer.kind === 'admin') return true;
  if (viewer.kind === 'anonymous') return false;
  return (project.visibility === 'internal' && viewer.internal) || levelOf(viewer, listed) > 0;
}

function bounds(query: ProjectQuery, index: Index): Range {
  if (index === 'byId') {
    return {
      ...(query.idAfter === undefined ? {} : { from: padded(Math.max(0, query.idAfter + 1)) }),
      ...(query.idBefore === undefined ? {} : { to: padded(Math.max(0, query.idBefore - 1)) }),
    };
  }
  if (index !== 'byActivity') return {};
  return {
    // Sort keys are `<time>\0<id>`: this bound stands behind every id of that very moment.
    ...(query.lastActivityAfter === undefined ? {} : { from: `${query.lastActivityAfter}\u0000:` }),
    ...(query.lastActivityBefore === undefined ? {} : { to: query.lastActivityBefore }),
  };
}

/** Whether a row is of a membership that has expired. */
const over = ({ expiresAt }: Item): boolean => typeof expiresAt === 'string' && isExpired({ expiresAt });

/** Whether the query asks for a visibility or for archived projects or others, which rows do not tell. */
const hasClass = (query: ProjectQuery): boolean =>
  query.archived !== undefined || query.visibility !== undefined;

const inClass = (query: ProjectQuery, item: Item): boolean =>
  (query.visibility === undefined || item['visibility'] === query.visibility) &&
  (query.archived === undefined || item['archived'] === query.archived);

interface Rows {
  readonly userId: number;
  readonly row: 'MEMBER' | 'OWN';
}

/** A user's rows in order of the project's id; only those of projects in the class asked for. */
function rowSource(
  table: Table,
  query: ProjectQuery,
  { userId, row }: Rows,
  direction: Direction,
  chunk: number,
): KeySource {
  const { from = padded(0), to = '999999999999' } = bounds(query, 'byId');
  let startKey: Item | undefined;
  let done = false;
  const keep = async (ids: readonly number[]): Promise<readonly number[]> => {
    if (!hasClass(query)) return ids;
    const items = await table.batchGet(ids.map(projectKey), { only: ['visibility', 'archived'] });
    return ids.filter((_, i) => items[i] !== undefined && inClass(query, items[i]));
  };
  return {
    async next() {
      while (!done) {
        const page = await table.query({
          index: 'byUser',
          partition: userPartition(userId),
          from: `${row}#${from}`,
          to: `${row}#${to}`,
          reverse: direction === 'desc',
          limit: chunk,
          ...(startKey === undefined ? {} : { startKey }),
        });
        startKey = page.next;
        done = startKey === undefined;
        const live = page.items.filter((item) => !over(item));
        const ids = await keep(live.map((item) => idOf(item['what'] as string)));
        if (ids.length > 0) return ids.map((id) => ({ sort: padded(id), id }));
      }
      return [];
    },
  };
}

/** The forks of a project by id, some at a time. */
function forkSource(table: Table, query: ProjectQuery, parentId: number, direction: Direction): KeySource {
  const { from = padded(0), to = '999999999999' } = bounds(query, 'byId');
  let startKey: Item | undefined;
  let done = false;
  return {
    async next() {
      while (!done) {
        const page = await table.query({
          partition: projectKey(parentId).pk,
          from: `${FORK}${from}`,
          to: `${FORK}${to}`,
          reverse: direction === 'desc',
          limit: 100,
          only: ['sk'],
          ...(startKey === undefined ? {} : { startKey }),
        });
        startKey = page.next;
        done = startKey === undefined;
        if (page.items.length > 0)
          return page.items.map(({ sk }) => ({ sort: padded(idOf(sk as string)), id: idOf(sk as string) }));
      }
      return [];
    },
  };
}

/** The query of a list of projects, and which of its conditions can be decided by keys alone. */

import { isExpired } from '../../records/expiry.ts';
import type { AccessLevel } from '../../records/members.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { SortedSize } from '../../records/storage-sizes.ts';
import type { Visibility } from '../../records/visibility.ts';
import type { Attributes } from '../custom-attributes/custom-attributes.ts';
import { listClass } from '../placement/project-item.ts';
import { padded } from '../row-keys/key.ts';
import { listPartitions } from '../row-keys/lists.ts';
import { matchesWords } from '../search/trigrams.ts';
import type { PageRequest } from '../table/paging.ts';
import type { Direction, IndexPartition, Range } from '../table/sorted-sources.ts';
import type { Item } from '../table/write.ts';

/** Who reads the list. `internal`: may see internal projects (external users may not). */
export type Viewer =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'user'; readonly id: number; readonly internal: boolean }
  | { readonly kind: 'admin'; readonly id: number };

/** Decides what one viewer may see in lists; the lists themselves only find candidates. */
export interface VisibilityFilter<R> {
  /** Prefetches what is needed besides the records. */
  prefetch(ids: readonly number[]): Promise<void>;
  /** The viewer's access level in each record; undefined for records that the viewer may not see. */
  levels(records: readonly (R | undefined)[]): Promise<readonly (AccessLevel | 0 | undefined)[]>;
}

/** `similarity`: to the search term, best match first, if all matches are known; else by creation. */
export type ProjectOrder =
  | 'id'
  | 'name'
  | 'path'
  | 'created_at'
  | 'updated_at'
  | 'last_activity_at'
  | 'repository_size'
  | keyof typeof SIZE_ORDERS
  | 'similarity';

/** Orders by what few projects have: rows sort those. */
const SIZE_ORDERS = {
  storage_size: 'storageSize',
  wiki_size: 'wikiSize',
  packages_size: 'packagesSize',
} as const satisfies Readonly<Record<string, SortedSize>>;

export const sizeOf = (order: ProjectOrder): SortedSize | undefined =>
  (SIZE_ORDERS as Readonly<Partial<Record<ProjectOrder, SortedSize>>>)[order];

/** The projects of one group. */
interface InGroup {
  readonly id: number;
  /** Also of descendant groups. */
  readonly deep: boolean;
  /** Also projects shared with the group; `only`: just these. */
  readonly shared: boolean | 'only';
  /** The viewer may see everything in the group. */
  readonly open: boolean;
}

export interface ProjectQuery extends PageRequest {
  readonly viewer: Viewer;
  readonly filter: VisibilityFilter<ProjectRecord>;
  readonly order?: ProjectOrder;
  readonly direction?: Direction;
  readonly visibility?: Visibility;
  readonly archived?: boolean;
  /** Only projects in which the viewer has an access level, by any membership. */
  readonly membership?: boolean;
  /** Only projects the viewer owns: in the personal namespace, or in groups. */
  readonly owned?: boolean;
  /** Only projects in this user's personal namespace. */
  readonly ownerId?: number;
  readonly inGroup?: InGroup;
  /** Only projects this user has starred. */
  readonly starredBy?: number;
  /** Only these projects. */
  readonly among?: ReadonlySet<number>;
  /** Only forks of this project. */
  readonly forksOf?: number;
  /** Only projects in which the viewer has at least this access level. */
  readonly minAccessLevel?: AccessLevel;
  /** Exclusive; with order `id` or `created_at` this is the keyset. */
  readonly idAfter?: number;
  readonly idBefore?: number;
  /** ISO 8601 UTC with milliseconds, exclusive. */
  readonly lastActivityAfter?: string;
  readonly lastActivityBefore?: string;
  /** Substring of name or path, ignoring case. */
  readonly search?: string;
  /** The search includes the names and paths of the projects' namespaces. */
  readonly searchNamespaces?: boolean;
  /** Only projects with all of these custom attributes. */
  readonly attributes?: Attributes;
  /** Only projects that the index shows for this topic; it may be late, so `where` has to check the topic too. */
  readonly ofTopic?: number;
  /** A further condition; up to 5,000 projects are loaded to check it. */
  readonly where?: (listed: ListedProject) => boolean;
}

export interface ListedProject {
  readonly project: ProjectRecord;
  /** The viewer's access level, as determined by the query's filter. */
  readonly level: AccessLevel | 0;
}

const VISIBILITIES: readonly Visibility[] = ['public', 'internal', 'private'];

export const INDEX = {
  id: 'byId',
  created_at: 'byId',
  name: 'byName',
  path: 'byPath',
  updated_at: 'byUpdated',
  last_activity_at: 'byActivity',
  repository_size: 'bySize',
  storage_size: 'bySize',
  wiki_size: 'bySize',
  packages_size: 'bySize',
  similarity: 'byId',
} as const;
export type Index = (typeof INDEX)[ProjectOrder];

/** Visibilities that all viewers of this kind may see. */
export const visibleTo = (viewer: Viewer): Visibility[] =>
  VISIBILITIES.filter(
    (v) =>
      viewer.kind === 'admin' ||
      v === 'public' ||
      (v === 'internal' && viewer.kind === 'user' && viewer.internal),
  );

/** The index partitions of these. */
export function partitionsOf(query: ProjectQuery, index: Index): IndexPartition[] {
  if (onlyRows(query)) return [];
  const archived = query.archived === undefined ? [false, true] : [query.archived];
  return visibleTo(query.viewer)
    .filter((v) => query.visibility === undefined || v === query.visibility)
    .flatMap((visibility) => archived.map((a) => listClass(visibility, a)))
    .flatMap((listed) => listPartitions(listed))
    .map((partition) => ({ index, partition, ...bounds(query, index) }));
}

/** Whether the list consists only of rows of a user, group or project, without public lists. */
export function onlyRows({ viewer, owned, membership, minAccessLevel, ...query }: ProjectQuery): boolean {
  const { ownerId, forksOf, inGroup, starredBy, among, attributes, ofTopic } = query;
  if ([ownerId, forksOf, inGroup, starredBy, among, attributes, ofTopic].some((each) => each !== undefined))
    return true;
  return (
    viewer.kind !== 'anonymous' && (owned === true || membership === true || minAccessLevel !== undefined)
  );
}

/** Whether a project found by search is in those rows. */
function inRows(
  query: ProjectQuery,
  { project, level }: ListedProject,
  pendingMoves: readonly number[],
): boolean {
  const { viewer, ownerId, forksOf, inGroup, among } = query;
  if (among !== undefined && !among.has(project.id)) return false;
  if (forksOf !== undefined && project.forkedFromId !== forksOf) return false;
  if (ownerId !== undefined && (project.namespaceKind !== 'user' || project.ownerId !== ownerId))
    return false;
  if (inGroup !== undefined && !isInGroup(project, inGroup, pendingMoves)) return false;
  if (viewer.kind === 'anonymous') return true;
  return !(query.owned && level < 50) && !(query.membership && level === 0);
}

function isInGroup(
  project: ProjectRecord,
  { id, deep, shared }: InGroup,
  pendingMoves: readonly number[],
): boolean {
  if (shared && project.shares.some((share) => share.groupId === id && !isExpired(share))) return true;
  if (shared === 'only') return false;
  if (!deep) return project.ancestorIds.at(-1) === id;
  return project.ancestorIds.includes(id) || pendingMoves.some((each) => project.ancestorIds.includes(each));
}

/** Whether the keys alone determine the list; else every record has to be loaded. */
function byKeysAlone(query: ProjectQuery, index: Index): boolean {
  const { viewer } = query;
  const activity = query.lastActivityAfter ?? query.lastActivityBefore;
  const ids = query.idAfter ?? query.idBefore;
  if (query.where !== undefined || query.forksOf !== undefined || hasText(query.search)) return false;
  if (query.minAccessLevel !== undefined || query.starredBy !== undefined) return false;
  if (query.attributes !== undefined || query.among !== undefined) return false;
  if (ids !== undefined && index !== 'byId') return false;
  if (activity !== undefined && index !== 'byActivity') return false;
  if (!onlyRows(query)) return true;
  if (activity !== undefined) return false;
  if (query.inGroup !== undefined) return query.inGroup.open && !query.owned && !query.membership;
  if (query.ownerId === undefined) return true;
  if (query.membership || query.owned) return false;
  return viewer.kind === 'admin' || (viewer.kind === 'user' && viewer.id === query.ownerId);
}

/** What a list asks of each record that it loads; undefined where the keys alone decide. */
export const filterOf = (
  query: ProjectQuery,
  index: Index,
): ((listed: ListedProject) => boolean) | undefined =>
  byKeysAlone(query, index) ? undefined : (listed) => query.where?.(listed) ?? true;

/**
 * Whether a loaded project matches the query; checks the keys' conditions too, because indexes may be stale.
 * @param pendingMoves groups moved into the query's group whose descendants have not followed yet
 */
export function passes(
  query: ProjectQuery,
  words: readonly string[],
  listed: ListedProject,
  pendingMoves: readonly number[],
): boolean {
  const { project, level } = listed;
  return (
    (query.visibility === undefined || project.visibility === query.visibility) &&
    (query.archived === undefined || project.archived === query.archived) &&
    (query.idAfter === undefined || project.id > query.idAfter) &&
    (query.idBefore === undefined || project.id < query.idBefore) &&
    (query.lastActivityAfter === undefined || project.lastActivityAt > query.lastActivityAfter) &&
    (query.lastActivityBefore === undefined || project.lastActivityAt < query.lastActivityBefore) &&
    (query.minAccessLevel === undefined || level >= query.minAccessLevel) &&
    (words.length === 0 || matchesWords(words, searched(query, project))) &&
    inRows(query, listed, pendingMoves)
  );
}

const searched = ({ searchNamespaces }: ProjectQuery, project: ProjectRecord): string[] => {
  const { name, path, fullPath, namespaceName } = project;
  return searchNamespaces ? [name, path, fullPath, `${namespaceName} / ${name}`] : [name, path];
};

/** Bounds of the sort keys of an index. */
export function bounds(query: ProjectQuery, index: Index): Range {
  if (index === 'byId') {
    return {
      ...(query.idAfter === undefined ? {} : { from: padded(Math.max(0, query.idAfter + 1)) }),
      ...(query.idBefore === undefined ? {} : { to: padded(Math.max(0, query.idBefore - 1)) }),
    };
  }
  if (index !== 'byActivity') return {};
  return {
    // Sort keys are `<time>\0<id>`: this bound sorts after every id of that time.
    ...(query.lastActivityAfter === undefined ? {} : { from: `${query.lastActivityAfter}\u0000:` }),
    ...(query.lastActivityBefore === undefined ? {} : { to: query.lastActivityBefore }),
  };
}

export const hasText = (text: string | undefined): boolean => (text?.trim() ?? '') !== '';

/** Whether the query filters by visibility or by archived, which rows do not hold. */
export const hasClass = (query: ProjectQuery): boolean =>
  query.archived !== undefined || query.visibility !== undefined;

/** Whether an item, or its read attributes, matches these filters. */
export const inClass = (query: ProjectQuery, item: Item | undefined): boolean =>
  item !== undefined &&
  (query.visibility === undefined || item['visibility'] === query.visibility) &&
  (query.archived === undefined || item['archived'] === query.archived);

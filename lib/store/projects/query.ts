/** What a list of projects may be asked for, and which of its conditions the keys alone decide. */

import { isExpired } from '../../records/expiry.ts';
import type { AccessLevel } from '../../records/members.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { Visibility } from '../../records/visibility.ts';
import type { Attributes } from '../custom-attributes/custom-attributes.ts';
import { listClass } from '../placement/project-item.ts';
import { padded } from '../row-keys/key.ts';
import { listPartitions } from '../row-keys/lists.ts';
import { matchesWords } from '../search/trigrams.ts';
import type { PageRequest } from '../table/paging.ts';
import type { Direction, IndexPartition, Range } from '../table/sorted-sources.ts';
import type { Item } from '../table/write.ts';

/** Who looks. `internal`: may see internal projects (external users may not). */
export type Viewer =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'user'; readonly id: number; readonly internal: boolean }
  | { readonly kind: 'admin'; readonly id: number };

/** Decides for one viewer what lists show; the lists themselves only know where to look. */
export interface VisibilityFilter<R> {
  /** Reads what is known to be needed, beside the records themselves. */
  prefetch(ids: readonly number[]): Promise<void>;
  /** The level the viewer holds in each; undefined for what the viewer may not see (any more). */
  levels(records: readonly (R | undefined)[]): Promise<readonly (AccessLevel | 0 | undefined)[]>;
}

/** `similarity`: to what is searched for, the best first, as far as hits are all known; else by creation. */
export type ProjectOrder =
  | 'id'
  | 'name'
  | 'path'
  | 'created_at'
  | 'updated_at'
  | 'last_activity_at'
  | 'size'
  | 'similarity';

/** The projects of one group. */
interface InGroup {
  readonly id: number;
  /** Also of the groups below. */
  readonly deep: boolean;
  /** Also those it was invited to; `only` these. */
  readonly shared: boolean | 'only';
  /** The viewer sees everything that stands in the group. */
  readonly open: boolean;
}

export interface ProjectQuery extends PageRequest {
  readonly viewer: Viewer;
  readonly filter: VisibilityFilter<ProjectRecord>;
  readonly order?: ProjectOrder;
  readonly direction?: Direction;
  readonly visibility?: Visibility;
  readonly archived?: boolean;
  /** Only projects the viewer holds a level in, by whatever membership. */
  readonly membership?: boolean;
  /** Only projects the viewer owns: in the personal namespace, or in groups. */
  readonly owned?: boolean;
  /** Only projects in this user's personal namespace. */
  readonly ownerId?: number;
  readonly inGroup?: InGroup;
  /** Only projects this user has starred. */
  readonly starredBy?: number;
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
  /** The search is also in the names and paths of what projects stand in. */
  readonly searchNamespaces?: boolean;
  /** Only projects with all of these custom attributes. */
  readonly attributes?: Attributes;
  /** A further condition; every project on the way is loaded for it, 5,000 at most. */
  readonly where?: (listed: ListedProject) => boolean;
}

export interface ListedProject {
  readonly project: ProjectRecord;
  /** The viewer's, as the query's judge has it. */
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
  size: 'bySize',
  similarity: 'byId',
} as const;
export type Index = (typeof INDEX)[ProjectOrder];

/** What everybody of the viewer's kind sees. */
export const visibleTo = (viewer: Viewer): Visibility[] =>
  VISIBILITIES.filter(
    (v) =>
      viewer.kind === 'admin' ||
      v === 'public' ||
      (v === 'internal' && viewer.kind === 'user' && viewer.internal),
  );

/** The index partitions that hold that. */
export function partitionsOf(query: ProjectQuery, index: Index): IndexPartition[] {
  if (onlyRows(query)) return [];
  const archived = query.archived === undefined ? [false, true] : [query.archived];
  return visibleTo(query.viewer)
    .filter((v) => query.visibility === undefined || v === query.visibility)
    .flatMap((visibility) => archived.map((a) => listClass(visibility, a)))
    .flatMap((listed) => listPartitions(listed))
    .map((partition) => ({ index, partition, ...bounds(query, index) }));
}

/** Whether the list is made of rows, of a user or below a group, and of nothing else. */
export function onlyRows({ viewer, owned, membership, minAccessLevel, ...query }: ProjectQuery): boolean {
  const { ownerId, forksOf, inGroup, starredBy, attributes } = query;
  if ([ownerId, forksOf, inGroup, starredBy, attributes].some((each) => each !== undefined)) return true;
  return (
    viewer.kind !== 'anonymous' && (owned === true || membership === true || minAccessLevel !== undefined)
  );
}

/** Whether a project found another way stands in those rows. */
function inRows(
  query: ProjectQuery,
  { project, level }: ListedProject,
  settling: readonly number[],
): boolean {
  const { viewer, ownerId, forksOf, inGroup } = query;
  if (forksOf !== undefined && project.forkedFromId !== forksOf) return false;
  if (ownerId !== undefined && (project.namespaceKind !== 'user' || project.ownerId !== ownerId))
    return false;
  if (inGroup !== undefined && !standsIn(project, inGroup, settling)) return false;
  if (viewer.kind === 'anonymous') return true;
  return !(query.owned && level < 50) && !(query.membership && level === 0);
}

function standsIn(
  project: ProjectRecord,
  { id, deep, shared }: InGroup,
  settling: readonly number[],
): boolean {
  if (shared && project.shares.some((share) => share.groupId === id && !isExpired(share))) return true;
  if (shared === 'only') return false;
  if (!deep) return project.ancestorIds.at(-1) === id;
  return project.ancestorIds.includes(id) || settling.some((each) => project.ancestorIds.includes(each));
}

/** Whether keys alone decide what is in the list; else every record on the way is loaded. */
export function byKeysAlone(query: ProjectQuery, index: Index): boolean {
  const { viewer } = query;
  const activity = query.lastActivityAfter ?? query.lastActivityBefore;
  const ids = query.idAfter ?? query.idBefore;
  if (query.where !== undefined || query.forksOf !== undefined || hasText(query.search)) return false;
  if (query.minAccessLevel !== undefined || query.starredBy !== undefined) return false;
  if (query.attributes !== undefined) return false;
  if (ids !== undefined && index !== 'byId') return false;
  if (activity !== undefined && index !== 'byActivity') return false;
  if (!onlyRows(query)) return true;
  if (activity !== undefined) return false;
  if (query.inGroup !== undefined) return query.inGroup.open && !query.owned && !query.membership;
  if (query.ownerId === undefined) return true;
  if (query.membership || query.owned) return false;
  return viewer.kind === 'admin' || (viewer.kind === 'user' && viewer.id === query.ownerId);
}

/**
 * The conditions of the query on a loaded project; those of the keys too, because indexes may be late.
 * @param settling groups in the query's group whose content does not say yet that it stands there
 */
export function passes(
  query: ProjectQuery,
  words: readonly string[],
  listed: ListedProject,
  settling: readonly number[],
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
    inRows(query, listed, settling)
  );
}

const searched = ({ searchNamespaces }: ProjectQuery, project: ProjectRecord): string[] => {
  const { name, path, fullPath, namespaceName } = project;
  return searchNamespaces ? [name, path, fullPath, `${namespaceName} / ${name}`] : [name, path];
};

/** Of the sort keys of an index. */
export function bounds(query: ProjectQuery, index: Index): Range {
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

export const hasText = (text: string | undefined): boolean => (text?.trim() ?? '') !== '';

/** Whether the query asks for a visibility or for archived projects or others, which rows do not tell. */
export const hasClass = (query: ProjectQuery): boolean =>
  query.archived !== undefined || query.visibility !== undefined;

/** For an item, or as much of one as was read. */
export const inClass = (query: ProjectQuery, item: Item | undefined): boolean =>
  item !== undefined &&
  (query.visibility === undefined || item['visibility'] === query.visibility) &&
  (query.archived === undefined || item['archived'] === query.archived);

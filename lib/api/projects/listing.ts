/** Orders and filters that all lists of projects have in common. */

import type { AccessLevel } from '../../records/members.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { storageOf } from '../../records/storages.ts';
import type { Visibility } from '../../records/visibility.ts';
import type { ProjectOrder } from '../../store/projects/query.ts';

const ORDERS = new Map<string, ProjectOrder>(
  (['id', 'name', 'path', 'created_at', 'updated_at', 'last_activity_at', 'similarity'] as const).map(
    (order) => [order, order],
  ),
);
const SIZES = new Map<string, ProjectOrder>(
  (['repository_size', 'storage_size', 'wiki_size', 'packages_size'] as const).map((order) => [order, order]),
);

interface Filters {
  readonly with_issues_enabled: boolean;
  readonly with_merge_requests_enabled: boolean;
  readonly starred: boolean;
  readonly with_programming_language?: string;
  readonly repository_storage?: string;
}

interface ListQuery extends Filters {
  readonly order_by: string;
  readonly sort: 'asc' | 'desc';
  readonly owned: boolean;
  readonly archived?: boolean;
  readonly visibility?: Visibility;
  readonly min_access_level?: number;
  readonly search?: string;
  readonly search_namespaces?: boolean;
}

/** The query parameters of a list as `listProjects` takes them. Only administrators can sort by size, or filter by storage. */
export function listInput(query: ListQuery, administrator = false) {
  const term = query.search?.trim() ?? '';
  const size = administrator ? SIZES.get(query.order_by) : undefined;
  return {
    order: size ?? ORDERS.get(query.order_by) ?? 'created_at',
    direction: query.sort,
    owned: query.owned,
    starred: query.starred,
    ...given({
      archived: query.archived,
      visibility: query.visibility,
      minAccessLevel: query.min_access_level as AccessLevel | undefined,
      search: term === '' ? undefined : term,
      searchNamespaces: query.search_namespaces,
      where: filterOf(query, administrator),
    }),
  };
}

/** All filters as one predicate over the record; undefined when the query has none. */
function filterOf(
  query: Filters,
  administrator: boolean,
): ((listed: { project: ProjectRecord }) => boolean) | undefined {
  const conditions: ((project: ProjectRecord) => boolean)[] = [];
  const enabled = (name: string) => (project: ProjectRecord) => project.settings[name] !== 'disabled';
  if (query.with_issues_enabled) conditions.push(enabled('issues_access_level'));
  if (query.with_merge_requests_enabled) conditions.push(enabled('merge_requests_access_level'));
  const language = query.with_programming_language?.toLowerCase();
  if (language) {
    conditions.push(({ languages = [] }) => languages.some((name) => name.toLowerCase() === language));
  }
  const storage = administrator ? query.repository_storage : undefined;
  if (storage !== undefined) conditions.push(({ storagePrefix }) => storageOf(storagePrefix) === storage);
  return conditions.length === 0 ? undefined : ({ project }) => conditions.every((passes) => passes(project));
}

/** Drops undefined members: the store distinguishes an absent member from an undefined one. */
export function given<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;
}

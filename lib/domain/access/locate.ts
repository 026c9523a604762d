import { type GroupRecord, MAX_DEPTH } from '../../records/groups.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { type NameHolder, sameName } from '../../store/table/unique-names.ts';
import type { Deps } from '../deps.ts';

/** What an ID or path resolves to, before access is checked. */
export interface Located<R> {
  readonly id: number;
  /** Present if resolving has read it. */
  readonly record?: R;
  /** Of a project, if the name record contains it: for prefetching. */
  readonly repositoryId?: string;
  /** Ancestor groups according to the name record, for prefetching. */
  readonly ancestorIds: readonly number[];
}

/** An ID that is never assigned: later reads find nothing, and take as long as for a hidden resource. */
const NONEXISTENT = { id: 0, ancestorIds: [] } as const;

/** Resolves a project by ID (digits only) or full path (contains a slash). One round trip if it exists. */
export async function locateProject(deps: Deps, idOrPath: string): Promise<Located<ProjectRecord>> {
  if (/^\d+$/.test(idOrPath)) {
    const record = await deps.store.projects.get(Number(idOrPath));
    const id = Number(idOrPath);
    if (record === undefined) return { ...NONEXISTENT, id };
    return { id, record, repositoryId: record.repositoryId, ancestorIds: record.ancestorIds };
  }
  const holder = idOrPath.includes('/') ? await holderOf(deps, idOrPath) : undefined;
  return holder?.type === 'project' ? holder : NONEXISTENT;
}

/** Like {@link locateProject}, but a path needs no slash: that of a top-level group has none. */
export async function locateGroup(deps: Deps, idOrPath: string): Promise<Located<GroupRecord>> {
  if (/^\d+$/.test(idOrPath)) {
    const record = await deps.store.groups.get(Number(idOrPath));
    const id = Number(idOrPath);
    return record === undefined ? { ...NONEXISTENT, id } : { id, record, ancestorIds: record.ancestorIds };
  }
  const holder = await holderOf(deps, idOrPath);
  return holder?.type === 'group' ? holder : NONEXISTENT;
}

/** What has a path, for a caller who asks for either. It tells nothing of whether they may know. */
export const namespaceKindAt = async (deps: Deps, path: string): Promise<NameHolder['type'] | undefined> =>
  (await holderOf(deps, path))?.type;

/** Maximum number of ancestors of one resource that move at the same time. */
const MAX_DETOURS = 3;

/** Resolves a path, also below a group or user that was moved there and whose descendants have not followed yet. */
async function holderOf({ store }: Deps, path: string): Promise<NameHolder | undefined> {
  let currentPath = path;
  for (let detour = 0; ; detour++) {
    const holder = await store.names.holder('path', currentPath);
    if (holder !== undefined || detour === MAX_DETOURS || !currentPath.includes('/')) return holder;
    const former = await pathBeforeMove(store, currentPath);
    if (former === undefined) return undefined;
    currentPath = former;
  }
}

/** The path before the pending move of the nearest ancestor that is being moved; undefined if none is. */
async function pathBeforeMove(store: Deps['store'], path: string): Promise<string | undefined> {
  const segments = path.split('/');
  if (segments.length > MAX_DEPTH + 1) return undefined;
  const prefixes = segments.slice(1).map((_, i) => segments.slice(0, i + 1).join('/'));
  const holders = await store.names.holders('path', prefixes);
  const idsOf = (type: NameHolder['type']) =>
    holders.map((holder) => (holder?.type === type && holder.current ? holder.id : 0));
  const [groups, users] = [idsOf('group'), idsOf('user')];
  const [groupRecords, userRecords] = await Promise.all([
    store.groups.getMany(groups.filter((id) => id > 0)),
    store.users.getMany(users.filter((id) => id > 0)),
  ]);
  for (let i = prefixes.length - 1; i >= 0; i--) {
    const group = groupRecords.find((record) => record?.id === groups[i]);
    const user = userRecords.find((record) => record?.id === users[i]);
    const path = group?.fullPath ?? user?.username;
    const former = group?.movedFrom ?? user?.movedFrom ?? null;
    if (path === undefined || former === null || !sameName(path, prefixes[i]!)) continue;
    // Only the case of its path changed.
    if (sameName(former, path)) continue;
    return [former, ...segments.slice(i + 1)].join('/');
  }
  return undefined;
}

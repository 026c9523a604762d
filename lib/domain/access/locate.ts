import { type GroupRecord, MAX_DEPTH } from '../../records/groups.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { NameHolder } from '../../store/table/unique-names.ts';
import { sameName } from '../../store/table/unique-names.ts';
import type { Deps } from '../deps.ts';

/** What an id or path names, before anybody's right to know of it is looked at. */
export interface Located<R> {
  readonly id: number;
  /** When it was read on the way. */
  readonly record?: R;
  /** Of a project, as far as the name tells: to be read ahead. */
  readonly repositoryId?: string;
  /** Groups above it as far as the name tells, to be read ahead. */
  readonly ancestorIds: readonly number[];
}

/** An id that no counter gives: what follows finds nothing there and takes as long as for something hidden. */
const NOBODY = { id: 0, ancestorIds: [] } as const;

/** Digits alone are an id; everything else is a full path, which has a slash. One round trip for what is there. */
export async function locateProject(deps: Deps, idOrPath: string): Promise<Located<ProjectRecord>> {
  if (/^\d+$/.test(idOrPath)) {
    const record = await deps.store.projects.get(Number(idOrPath));
    const id = Number(idOrPath);
    if (record === undefined) return { ...NOBODY, id };
    return { id, record, repositoryId: record.repositoryId, ancestorIds: record.ancestorIds };
  }
  const holder = idOrPath.includes('/') ? await holderOf(deps, idOrPath) : undefined;
  return holder?.type === 'project' ? holder : NOBODY;
}

/** As {@link locateProject}; the path of an outermost group has no slash. */
export async function locateGroup(deps: Deps, idOrPath: string): Promise<Located<GroupRecord>> {
  if (/^\d+$/.test(idOrPath)) {
    const record = await deps.store.groups.get(Number(idOrPath));
    const id = Number(idOrPath);
    return record === undefined ? { ...NOBODY, id } : { id, record, ancestorIds: record.ancestorIds };
  }
  const holder = await holderOf(deps, idOrPath);
  return holder?.type === 'group' ? holder : NOBODY;
}

/** Groups that may be moving at once above one thing. */
const MAX_DETOURS = 3;

/** Who holds a path, also below a group or person that has moved there and whose content has not followed yet. */
async function holderOf({ store }: Deps, path: string): Promise<NameHolder | undefined> {
  let wanted = path;
  for (let detour = 0; ; detour++) {
    const holder = await store.names.holder('path', wanted);
    if (holder !== undefined || detour === MAX_DETOURS || !wanted.includes('/')) return holder;
    const former = await beforeMove(store, wanted);
    if (former === undefined) return undefined;
    wanted = former;
  }
}

/** The path as it was before the move that whoever stands above is at, if one is. */
async function beforeMove(store: Deps['store'], path: string): Promise<string | undefined> {
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
    // Only its name changed.
    if (sameName(former, path)) continue;
    return [former, ...segments.slice(i + 1)].join('/');
  }
  return undefined;
}

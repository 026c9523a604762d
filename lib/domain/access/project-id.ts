import type { Deps } from '../deps.ts';

/** The id that an id or a full path stands for, for callers without an account. Whether there is such a project is not looked at. */
export async function projectIdOf({ store }: Deps, project: string): Promise<number | undefined> {
  if (/^\d{1,12}$/.test(project)) return Number(project);
  const holder = await store.names.holder('path', project);
  return holder?.type === 'project' ? holder.id : undefined;
}

import type { MentionSource } from '../../records/notes.ts';
import type { Writer } from '../../store/notes/mentions.ts';
import { projectAccesses } from '../access/project-accesses.ts';
import type { GroupAccess, ProjectAccess } from '../access/types.ts';
import { actingFor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { groupAccesses } from '../groups/details.ts';
import type { Reading } from './reading.ts';

/** How the writer of a text sees the project or group of it. */
export type Written = Reading & { readonly actor: ReturnType<typeof actingFor> } & (
    | { readonly project: ProjectAccess }
    | { readonly project?: undefined; readonly group: GroupAccess }
  );

export type WrittenInProject = Extract<Written, { readonly project: ProjectAccess }>;

/** A text, who wrote it and where. */
export interface Mentioning {
  readonly text: string;
  readonly reading: Written;
  readonly source: MentionSource;
}

/** Returns how the writer of a text sees the project of it; undefined where one of them is gone. */
export async function readingOf(
  deps: Deps,
  projectId: number,
  writer: Writer,
): Promise<WrittenInProject | undefined> {
  const actor = await actorOf(deps, writer);
  const [project] = actor === undefined ? [] : await projectAccesses(deps, actor, [projectId]);
  return project && { actor: actor!, baseUrl: writer.baseUrl, project };
}

/** The same of a text in a group. */
export async function readingInGroup(
  deps: Deps,
  groupId: number,
  writer: Writer,
): Promise<Exclude<Written, WrittenInProject> | undefined> {
  const actor = await actorOf(deps, writer);
  const [group] = actor === undefined ? [] : await groupAccesses(deps, actor, [groupId]);
  return group && { actor: actor!, baseUrl: writer.baseUrl, group };
}

async function actorOf(deps: Deps, { actorId, baseUrl }: Writer) {
  const user = actorId === null ? undefined : await deps.store.users.get(actorId);
  return user?.state === 'active' ? actingFor(user, baseUrl) : undefined;
}

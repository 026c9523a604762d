import type { MentionSource } from '../../records/notes.ts';
import type { Writer } from '../../store/notes/mentions.ts';
import { projectAccesses } from '../access/project-accesses.ts';
import type { ProjectAccess } from '../access/types.ts';
import { actingFor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import type { Reading } from './reading.ts';

/** A text, who wrote it and where. */
export interface Mentioning {
  readonly text: string;
  readonly reading: Reading & {
    readonly actor: ReturnType<typeof actingFor>;
    readonly project: ProjectAccess;
  };
  readonly source: MentionSource;
}

/** Returns how the writer of a text sees the project of it; undefined where one of them is gone. */
export async function readingOf(
  deps: Deps,
  projectId: number,
  { actorId, baseUrl }: Writer,
): Promise<Mentioning['reading'] | undefined> {
  const user = actorId === null ? undefined : await deps.store.users.get(actorId);
  if (user === undefined || user.state !== 'active') return undefined;
  const actor = actingFor(user, baseUrl);
  const [project] = await projectAccesses(deps, actor, [projectId]);
  return project && { actor, baseUrl, project };
}

/** Content of notifications about notes on snippets of projects. */

import type { Deps } from '../deps.ts';
import type { NotificationContent } from './audience.ts';
import { type EventOf, shortTitle, urlOf } from './content-parts.ts';
import type { About } from './recipients.ts';
import type { ProjectResource } from './resources.ts';
import { contentOfNote } from './tracked-content.ts';

/** @returns undefined when the snippet or the note no longer exists */
export async function snippetNoteContent(
  deps: Deps,
  resource: ProjectResource,
  { happening, baseUrl }: EventOf<'snippet-note'>,
): Promise<NotificationContent | undefined> {
  const snippet = await deps.store.snippets.get(happening.snippetId);
  const { project } = resource;
  if (snippet?.projectId !== project.id) return undefined;
  const { id, title, author } = snippet;
  const about = {
    resource,
    called: `snippet $${id}`,
    concerned: {
      thread: { projectId: project.id, noteable: { kind: 'snippet', id } },
      authorIds: [author.id],
    },
    parts: {
      subject: `${project.name} | ${shortTitle(title)} ($${id})`,
      url: `${urlOf(project, baseUrl)}/-/snippets/${id}`,
      thread: `snippet_${id}.project_${project.id}`,
      project,
      facts: { 'Snippet-ID': String(id) },
    },
    about: (): About => ({ resource, ability: 'read_snippets', snippet }),
  } as const;
  return contentOfNote(deps, about, happening.noteId);
}

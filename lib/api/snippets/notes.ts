import type { ProjectAccess } from '../../domain/access/types.ts';
import { snippetWithNotes } from '../../domain/snippets/noted.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { awardEndpoints } from '../award-emoji/endpoints.ts';
import { discussionEndpoints, type NotedPath } from '../notes/discussions.ts';
import { noteEndpoints } from '../notes/notes.ts';

const onSnippet: NotedPath<ProjectAccess> = {
  path: '/projects/:id/snippets/:snippet_id',
  area: 'snippets',
  object: 'a snippet',
  missing: 'Snippet',
  access: project('read_snippets'),
  updatesText: true,
  params: () => ({ snippet_id: p.integer({ required: true, description: 'ID of the snippet' }) }),
  open: (deps, actor, access, { snippet_id }) => snippetWithNotes(deps, actor, access, Number(snippet_id)),
};

export const snippetNoteEndpoints = [
  ...noteEndpoints(onSnippet),
  ...discussionEndpoints(onSnippet),
  ...awardEndpoints(onSnippet),
];

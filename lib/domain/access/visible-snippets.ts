import type { SnippetRecord } from '../../records/snippets.ts';
import { VISIBILITIES, type Visibility } from '../../records/visibility.ts';
import { isAdministrator, type Viewer } from '../actor.ts';
import { can } from './permissions.ts';
import type { ProjectAccess } from './types.ts';

/**
 * Whether the viewer may know of the snippet: of a personal one by its visibility, in a project by the stricter of both.
 * @param access of the project of the snippet, as far as the viewer sees that
 */
export function maySeeSnippet(
  viewer: Viewer,
  { projectId, visibility, author }: Pick<SnippetRecord, 'projectId' | 'visibility' | 'author'>,
  access: ProjectAccess | undefined,
): boolean {
  if (projectId !== null) {
    if (access?.project.id !== projectId || !can(viewer, access, 'read_snippets')) return false;
    if (can(viewer, access, 'read_private_snippets')) return true;
  }
  return isAdministrator(viewer) || isAuthor(viewer, author) || isShown(viewer, visibility);
}

/** Visibilities of the snippets in a project that its list shows to everybody like the viewer. */
export const listedVisibilities = (viewer: Viewer, access: ProjectAccess): readonly Visibility[] =>
  can(viewer, access, 'read_private_snippets')
    ? VISIBILITIES
    : VISIBILITIES.filter((visibility) => isShown(viewer, visibility));

export const isAuthor = (viewer: Viewer, author: SnippetRecord['author']): boolean =>
  viewer.kind === 'user' && viewer.user.id === author.id;

const isShown = (viewer: Viewer, visibility: Visibility): boolean =>
  visibility === 'public' || (visibility === 'internal' && viewer.kind === 'user' && !viewer.user.external);

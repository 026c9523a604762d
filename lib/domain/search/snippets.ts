import type { Page } from '../../store/table/paging.ts';
import { projectAccesses } from '../access/project-accesses.ts';
import type { GroupAccess, ProjectAccess } from '../access/types.ts';
import { maySeeSnippet } from '../access/visible-snippets.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import type { ShownSnippet } from '../snippets/snippets.ts';
import { demandTerm, type Searched } from './search.ts';

/** Searches snippets by words of their titles: all that the actor may see, or those of a project or below a group. */
export async function searchSnippets(
  deps: Deps,
  actor: Actor,
  searched: Searched,
  within?: GroupAccess | ProjectAccess,
): Promise<Page<ShownSnippet>> {
  demandTerm(searched.term);
  const accesses = new Map<number, ProjectAccess | undefined>();
  const isWithin = (access: ProjectAccess | undefined): boolean => {
    if (within === undefined) return true;
    return 'project' in within
      ? access?.project.id === within.project.id
      : access?.project.ancestorIds.includes(within.group.id) === true;
  };
  const page = await deps.store.snippets.searchPage(searched, async (snippets) => {
    const ids = [...new Set(snippets.flatMap(({ projectId }) => projectId ?? []))];
    const unknown = ids.filter((id) => !accesses.has(id));
    const found = unknown.length === 0 ? [] : await projectAccesses(deps, actor, unknown);
    for (const [i, id] of unknown.entries()) accesses.set(id, found[i]);
    return snippets.map((snippet) => {
      const access = snippet.projectId === null ? undefined : accesses.get(snippet.projectId);
      return isWithin(access) && maySeeSnippet(actor, snippet, access);
    });
  });
  const authorIds = [...new Set(page.items.map(({ author }) => author.id))];
  const users = authorIds.length === 0 ? [] : await deps.store.users.getMany(authorIds);
  const authors = new Map(authorIds.map((id, i) => [id, users[i]]));
  const items = page.items.map((snippet) => {
    const access = snippet.projectId === null ? undefined : accesses.get(snippet.projectId);
    return { snippet, author: authors.get(snippet.author.id), ...(access && { access }) };
  });
  return { ...page, items };
}

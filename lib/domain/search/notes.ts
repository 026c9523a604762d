import type { NoteRecord } from '../../records/notes.ts';
import { wordsInTexts } from '../../store/search/words.ts';
import type { Page } from '../../store/table/paging.ts';
import { can } from '../access/permissions.ts';
import type { GroupAccess, ProjectAccess } from '../access/types.ts';
import { isOwn, maySeeIssue } from '../access/visible-issues.ts';
import { maySeeSnippet } from '../access/visible-snippets.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { type LoadedNote, loaded } from '../notes/loaded.ts';
import { searchedProjects } from './projects.ts';
import { demandTerm, type Searched } from './search.ts';

/**
 * Searches what people noted on commits, issues, merge requests and snippets by the words of it: in the project; in the
 * newest projects of the group; without either, in the newest projects that the actor is a member of.
 */
export async function searchNotes(
  deps: Deps,
  actor: Actor,
  { term, direction, ...page }: Searched,
  within?: GroupAccess | ProjectAccess,
): Promise<Page<LoadedNote>> {
  demandTerm(term);
  const words = wordsInTexts(term);
  const nothing = { items: [], total: 0, more: false };
  if (words.length === 0) return nothing;
  const { projects, complete } = await searchedProjects(deps, actor, within);
  const accesses = new Map(
    projects
      .filter((access) => NOTED.some((ability) => can(actor, access, ability)))
      .map((access) => [access.project.id, access]),
  );
  if (accesses.size === 0) return nothing;
  const found = await deps.store.noteSearch.page({
    ...page,
    ...{ projectIds: [...accesses.keys()], words, direction },
    visible: (notes) => visibleNotes(deps, actor, notes, accesses),
  });
  const items = await loaded(deps, found.items);
  return complete ? { ...found, items } : { ...found, items, total: undefined, truncated: true };
}

/** Abilities of which one is needed to read any notes in a project. */
const NOTED = ['read_issues', 'read_code', 'read_snippets'] as const;

/** Which notes the actor may read, as what they are on decides. */
async function visibleNotes(
  deps: Deps,
  actor: Actor,
  notes: readonly NoteRecord[],
  accesses: ReadonlyMap<number, ProjectAccess>,
): Promise<boolean[]> {
  const isOfIssue = ({ noteable }: NoteRecord) => noteable.kind === 'issue';
  const addresses = notes.filter(isOfIssue).map(({ projectId, iid }) => ({ projectId, iid: iid! }));
  const snippetIds = notes.flatMap(({ noteable }) => (noteable.kind === 'snippet' ? noteable.id : []));
  const [foundIssues, foundSnippets] = await Promise.all([
    deps.store.issues.getMany(addresses),
    snippetIds.length === 0 ? [] : deps.store.snippets.getMany(snippetIds),
  ]);
  const issues = new Map(foundIssues.map((issue) => [issue?.id, issue]));
  const snippets = new Map(foundSnippets.map((snippet) => [snippet?.id, snippet]));
  return notes.map((note) => {
    const access = accesses.get(note.projectId)!;
    if (note.noteable.kind === 'merge-request') return can(actor, access, 'read_merge_requests');
    if (note.noteable.kind === 'snippet') {
      const snippet = snippets.get(note.noteable.id);
      return snippet !== undefined && maySeeSnippet(actor, snippet, access);
    }
    if (!isOfIssue(note)) return note.noteable.kind === 'commit' && can(actor, access, 'read_code');
    const issue = issues.get(note.noteable.id as number);
    if (issue === undefined || !maySeeIssue(actor, access, issue)) return false;
    return note.internal !== true || can(actor, access, 'read_confidential_issues') || isOwn(actor, issue);
  });
}

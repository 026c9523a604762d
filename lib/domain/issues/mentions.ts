import type { NamedPlace, NoteRecord } from '../../records/notes.ts';
import { can } from '../access/permissions.ts';
import { projectAccesses } from '../access/project-accesses.ts';
import { maySeeIssue } from '../access/visible-issues.ts';
import { maySeeSnippet } from '../access/visible-snippets.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { visibleEpics } from '../epics/related.ts';

/**
 * Which of some notes the actor may read: of those that name another place, the ones whose place they may read. One
 * batch each for their projects, their issues, their snippets and their epics.
 */
export async function readableMentions(
  deps: Deps,
  actor: Actor,
  notes: readonly Pick<NoteRecord, 'mentionedIn'>[],
): Promise<boolean[]> {
  const sources = notes.flatMap(({ mentionedIn }) => mentionedIn ?? []);
  const named = sources.filter((source) => source.kind === 'issue');
  const snippetIds = sources.flatMap((source) => (source.kind === 'snippet' ? source.id : []));
  const epicIds = sources.flatMap((source) => (source.kind === 'epic' ? source.id : []));
  const projectIds = [
    ...new Set(sources.flatMap((source) => (source.kind === 'epic' ? [] : source.projectId))),
  ];
  const [projects, found, foundSnippets, epics] = await Promise.all([
    projectIds.length === 0 ? [] : projectAccesses(deps, actor, projectIds),
    named.length === 0 ? [] : deps.store.issues.getMany(named),
    snippetIds.length === 0 ? [] : deps.store.snippets.getMany(snippetIds),
    visibleEpics(deps, actor, epicIds),
  ]);
  const accesses = new Map(projectIds.map((id, i) => [id, projects[i]]));
  const issues = new Map(named.map((source, i) => [source, found[i]]));
  const snippets = new Map(snippetIds.map((id, i) => [id, foundSnippets[i]]));
  const mayRead = (source: NamedPlace): boolean => {
    if (source.kind === 'epic') return epics.has(source.id);
    const access = accesses.get(source.projectId);
    if (access === undefined) return false;
    if (source.kind === 'merge-request') return can(actor, access, 'read_merge_requests');
    if (source.kind === 'commit') return can(actor, access, 'read_history');
    if (source.kind === 'snippet') {
      const snippet = snippets.get(source.id);
      return snippet !== undefined && maySeeSnippet(actor, snippet, access);
    }
    const issue = issues.get(source);
    return issue !== undefined && maySeeIssue(actor, access, issue);
  };
  return notes.map(({ mentionedIn }) => mentionedIn === undefined || mayRead(mentionedIn));
}

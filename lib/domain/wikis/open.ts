import { GitRepository } from '../../git/repository.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { repositoryIdOf } from '../../records/repository-owner.ts';
import type { OutboxMessage } from '../../store/outbox/outbox.ts';
import { scheduleMeasuring } from '../../store/statistics/statistics.ts';
import { ownerLives } from '../../store/wikis/owner.ts';
import type { Deps } from '../deps.ts';
import { tellHooks } from '../hook-events/tell.ts';
import { openLazyRepository } from '../repository/lazy.ts';
import type { ProjectRepository, Pusher } from '../repository/open.ts';
import { ownerOf, type WikiOf } from './access.ts';
import { type PageChange, pageEvents } from './page-events.ts';

/**
 * Opens the repository of a wiki for one request. Reads nothing itself.
 * @param pusher the author of the events of pages
 * @param moves former paths of files that the next write moves, by their new paths
 */
export function openWiki(
  deps: Deps,
  wiki: WikiOf,
  pusher?: Pusher,
  moves?: ReadonlyMap<string, string>,
): ProjectRepository {
  const owner = ownerOf(wiki);
  if (pusher !== undefined) deps.store.events.prepare();
  const repository: ProjectRepository = openLazyRepository(deps, owner, {
    storagePrefix: ('project' in wiki ? wiki.project.project : wiki.group.group).storagePrefix,
    owner: ownerLives(owner),
    alongside: async (updates, { head, objects }) => {
      if (!('project' in wiki)) return { writes: [] };
      const { writes, changes } = await pageEvents(deps, {
        projectId: owner.id,
        pusher,
        updates,
        head: async () => head ?? (await repository.refs.head()),
        objects,
        moves,
      });
      const messages = await heard(deps, wiki.project.project, pusher, changes);
      return { writes: [scheduleMeasuring(owner.id, deps.now()), ...writes], messages };
    },
  });
  return repository;
}

const ACTIONS: Readonly<Record<string, 'create' | 'update' | 'delete'>> = {
  created: 'create',
  updated: 'update',
  destroyed: 'delete',
};

/** Hooks hear of pages. */
function heard(
  deps: Deps,
  project: ProjectRecord,
  pusher: Pusher | undefined,
  changes: readonly PageChange[],
): Promise<OutboxMessage[]> {
  const events = changes.map(({ action, page: { slug, title, format } }) => ({
    kind: 'wiki-page' as const,
    action: ACTIONS[action] ?? 'update',
    slug,
    title,
    format,
  }));
  const by =
    pusher?.kind === 'requester'
      ? { actorId: pusher.userId, baseUrl: deps.environment.baseUrl ?? '' }
      : (pusher ?? { actorId: null, baseUrl: '' });
  return tellHooks(deps, by, project, events);
}

/** The same, with the history cache of the process. */
export const wikiPages = (deps: Deps, wiki: WikiOf): GitRepository =>
  new GitRepository(openWiki(deps, wiki), deps.histories.of(repositoryIdOf(ownerOf(wiki))));

/** @returns also a map for the files that the write moves, by their new paths: see {@link openWiki} */
export function openWikiForWriting(
  deps: Deps,
  wiki: WikiOf,
  pusher: Pusher,
): { readonly git: GitRepository; readonly moves: Map<string, string> } {
  const moves = new Map<string, string>();
  const repository = openWiki(deps, wiki, pusher, moves);
  return { git: new GitRepository(repository, deps.histories.of(repositoryIdOf(ownerOf(wiki)))), moves };
}

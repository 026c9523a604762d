import type { GitRequest } from '../../domain/access/git-access.ts';
import type { Actor } from '../../domain/actor.ts';
import type { Deps } from '../../domain/deps.ts';
import type { PushUpdate } from '../../git/wire/push-update.ts';
import type { IncomingPush } from '../../git/wire/receive-pack.ts';
import type { Repository } from '../../git/wire/repository.ts';
import type { RepositoryOwner } from '../../records/repository-owner.ts';
import type { GitPath } from './path.ts';

/** A repository beside the code of a project: of a wiki or a snippet. */
export interface BesideCode {
  readonly actor: Actor;
  readonly owner: RepositoryOwner;
  /** @param pushing whether the caller writes to it */
  repository(pushing: boolean): Promise<Repository>;
  /** Why a push may not update a ref, in one line; undefined if it may. */
  readonly authorize: (
    update: PushUpdate,
    push: IncomingPush,
  ) => string | undefined | Promise<string | undefined>;
}

/**
 * Opens what a path names that is not a project's code, for a caller who may do that.
 * @throws 401, 403 and 404 as `openGit` does
 */
export async function openBesideCode(
  deps: Deps,
  { of }: Pick<GitPath, 'of'>,
  request: GitRequest,
): Promise<BesideCode> {
  if (of.kind === 'wiki') {
    const [{ openGitWiki, wikiRefusal }, { ownerOf }] = await Promise.all([
      import('../../domain/wikis/git.ts'),
      import('../../domain/wikis/access.ts'),
    ]);
    const { actor, wiki } = await openGitWiki(deps, request);
    return {
      actor,
      owner: ownerOf(wiki),
      repository: async (pushing) => {
        const { openWiki } = await import('../../domain/wikis/open.ts');
        return openWiki(deps, wiki, pushing ? actor : undefined);
      },
      authorize: wikiRefusal,
    };
  }
  if (of.kind !== 'snippet') throw new RangeError('the code of a project');
  const { openGitSnippet, snippetRefusal } = await import('../../domain/snippets/git.ts');
  const { actor, found } = await openGitSnippet(deps, request, of.id);
  return {
    actor,
    owner: { kind: 'snippet', id: of.id },
    repository: async () =>
      (await import('../../domain/snippets/content.ts')).openSnippet(deps, found.snippet),
    authorize: snippetRefusal(deps, found),
  };
}

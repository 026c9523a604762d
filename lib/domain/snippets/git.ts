import { branchRef } from '../../git/refname.ts';
import type { PushUpdate } from '../../git/wire/push-update.ts';
import type { IncomingPush } from '../../git/wire/receive-pack.ts';
import { deployCredential } from '../access/deploy-access.ts';
import { type GitRequest, openForGit, whereGitIsAllowed } from '../access/git-access.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { DomainError, forbidden, unauthorized } from '../errors.ts';
import { type FoundSnippet, findSnippet, mayChangeSnippet } from './access.ts';
import { contentOf } from './content.ts';

/** A snippet that a Git client may fetch from, or push to. */
export interface SnippetAccess {
  readonly actor: Actor;
  readonly found: FoundSnippet;
}

/**
 * Checks that a caller may fetch from or push to a snippet: a personal one, or one of the project at the request's path.
 * @throws 401, 403 and 404 as `openGit` does; 403 for deploy tokens
 */
export const openGitSnippet = (deps: Deps, request: GitRequest, id: number): Promise<SnippetAccess> =>
  whereGitIsAllowed(deps, opened(deps, request, id));

async function opened(deps: Deps, request: GitRequest, id: number): Promise<SnippetAccess> {
  const { credential, fullPath, purpose } = request;
  if (deployCredential(credential) !== undefined) throw forbidden('a deploy token is for code only');
  const { actor, project } = await openForGit(deps, request, fullPath === '' ? {} : { project: fullPath });
  const found = await findSnippet(deps, actor, project, id).catch((error: unknown) => {
    const isHidden = error instanceof DomainError && error.code === 'not-found';
    throw isHidden && actor.kind === 'anonymous' ? unauthorized() : error;
  });
  if (purpose === 'read' || mayChangeSnippet(actor, found)) return { actor, found };
  if (project?.project.archived) throw forbidden('the project is archived');
  throw forbidden('You are not allowed to update this snippet.');
}

/** Why a push may not update a ref, in one line: a snippet is what is on its branch. */
export const snippetRefusal =
  (deps: Deps, { snippet }: FoundSnippet) =>
  async ({ name, kind, to }: PushUpdate, { store }: IncomingPush): Promise<string | undefined> => {
    if (name !== branchRef(snippet.branch)) return `A snippet has one branch, ${snippet.branch}.`;
    if (kind === 'delete') return 'The branch of a snippet cannot be deleted.';
    return (await contentOf(deps, store, to)).problem;
  };

import { type RepositoryOwner, repositoryIdOf } from '../../records/repository-owner.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../errors.ts';
import type { OpenedForPush } from '../git/receive-staged-push.ts';
import { openSnippet } from '../snippets/content.ts';
import { openGitSnippet, snippetRefusal } from '../snippets/git.ts';
import { openGitWiki, wikiRefusal } from '../wikis/git.ts';
import { openWiki } from '../wikis/open.ts';

/** Opens a wiki or a snippet for the push of who holds a token. @throws 401, 403 and 404 as a push is answered */
export async function openBeside(
  deps: Deps,
  owner: RepositoryOwner,
  tokenId: number,
): Promise<OpenedForPush> {
  const { kind, id } = owner;
  const repositoryId = repositoryIdOf(owner);
  const request = { credential: { kind: 'known-token', id: tokenId }, purpose: 'write' } as const;
  if (kind === 'snippet') {
    const snippet = await deps.store.snippets.get(id);
    if (snippet === undefined) throw notFound('Snippet');
    const fullPath = snippet.projectId === null ? '' : String(snippet.projectId);
    const { found } = await openGitSnippet(deps, { ...request, fullPath }, id);
    const rules = { authorize: snippetRefusal(deps, found) };
    return { repositoryId, repository: openSnippet(deps, found.snippet), rules };
  }
  const of = kind === 'group-wiki' ? 'group' : 'project';
  const { actor, wiki } = await openGitWiki(deps, { ...request, fullPath: String(id) }, of);
  return { repositoryId, repository: openWiki(deps, wiki, actor), rules: { authorize: wikiRefusal } };
}

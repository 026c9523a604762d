import { spaceOf } from '../../git/refname.ts';
import type { PushUpdate } from '../../git/wire/push-update.ts';
import { deployCredential } from '../access/deploy-access.ts';
import { type GitRequest, openForGit, whereGitIsAllowed } from '../access/git-access.ts';
import { namespaceKindAt } from '../access/locate.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { forbidden, notFound, unauthorized } from '../errors.ts';
import { mayInWiki, type WikiOf } from './access.ts';

/** A wiki that a Git client may fetch from, or push to. */
export interface WikiAccess {
  readonly actor: Actor;
  readonly wiki: WikiOf;
}

/**
 * Checks that a caller may fetch from or push to the wiki of the project or group at a path.
 * @param kind where `fullPath` is the id of a project or a group
 * @throws 401, 403 and 404 as `openGit` does; 403 for deploy tokens
 */
export const openGitWiki = (deps: Deps, request: GitRequest, kind?: WikiKind): Promise<WikiAccess> =>
  whereGitIsAllowed(deps, opened(deps, request, kind));

type WikiKind = 'project' | 'group';

async function opened(deps: Deps, request: GitRequest, known: WikiKind | undefined): Promise<WikiAccess> {
  const { credential, fullPath, purpose } = request;
  if (deployCredential(credential) !== undefined) throw forbidden('a deploy token is for code only');
  const kind = known ?? ((await namespaceKindAt(deps, fullPath)) === 'group' ? 'group' : 'project');
  const { actor, project, group } = await openForGit(
    deps,
    request,
    kind === 'group' ? { group: fullPath } : { project: fullPath },
  );
  const wiki = group === undefined ? project && { project } : { group };
  if (wiki === undefined) throw notFound('Project');
  const allowed =
    mayInWiki(actor, wiki, 'read_wiki') && (purpose === 'read' || mayInWiki(actor, wiki, 'write_wiki'));
  if (allowed) return { actor, wiki };
  if (actor.kind === 'anonymous') throw unauthorized();
  if (purpose === 'write' && project?.project.archived) throw forbidden('the project is archived');
  throw forbidden(
    purpose === 'read'
      ? 'You are not allowed to download files from this wiki.'
      : "You are not allowed to write to this project's wiki.",
  );
}

/** Why a push may not update a ref; undefined if it may: branches and tags are anyone's who may write to the wiki. */
export const wikiRefusal = ({ name }: PushUpdate): string | undefined =>
  spaceOf(name) === undefined ? 'A wiki has branches and tags only.' : undefined;

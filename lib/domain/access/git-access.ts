import type { TokenScope } from '../../records/tokens.ts';
import type { Deps } from '../deps.ts';
import { DomainError, forbidden, unauthorized } from '../errors.ts';
import { deployCredential, openWithDeployToken } from './deploy-access.ts';
import { openRequest } from './open-request.ts';
import { can } from './permissions.ts';
import type { GitAccess, OpenRequest } from './types.ts';

const SCOPES: Record<'read' | 'write' | 'attachments', readonly TokenScope[]> = {
  attachments: ['api', 'read_api'],
  read: ['api', 'read_repository', 'write_repository'],
  write: ['api', 'write_repository'],
};

/**
 * Checks that a caller may fetch from or push to the repository at a path. Anonymous callers get 401 for private and
 * for absent repositories alike: git then asks for credentials, and the existence of a repository is not disclosed.
 *
 * @throws 401 when credentials are missing or invalid, 404 for signed-in users who may not see the project, 403 when
 *   the role or the token's scopes do not suffice, or where Git over HTTP is disabled for the instance
 */
export async function openGit(deps: Deps, request: GitRequest): Promise<GitAccess> {
  const [access, settings] = await Promise.all([openAny(deps, request), deps.settings.current()]);
  if (settings.enabled_git_access_protocol === 'ssh' && request.web === undefined)
    throw forbidden('Git access over HTTP is not allowed');
  return access;
}

type GitRequest = Pick<OpenRequest, 'credential' | 'origin' | 'admission' | 'prefetch'> & {
  fullPath: string;
  purpose: 'read' | 'write';
  /**
   * A download of a web page: the setting of Git's protocols does not concern it. Attached files are for all who may see
   * the project, and `fullPath` may be its id.
   */
  web?: 'code' | 'attachments';
};

async function openAny(deps: Deps, request: GitRequest): Promise<GitAccess> {
  const { credential, fullPath, purpose, prefetch, origin, admission } = request;
  // Anonymous callers never push.
  if (purpose === 'write' && credential.kind === 'none') throw unauthorized();
  const attachments = request.web === 'attachments';
  const deploy = deployCredential(credential);
  if (deploy !== undefined && attachments) throw unauthorized();
  if (deploy !== undefined) return openWithDeployToken(deps, deploy, request);
  let opened: Awaited<ReturnType<typeof openRequest>>;
  try {
    opened = await openRequest(deps, {
      credential,
      project: fullPath,
      ...(prefetch && { prefetch }),
      ...(origin && { origin }),
      ...(admission && { admission }),
    });
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    if (error.code === 'invalid-token' || (error.code === 'not-found' && credential.kind === 'none')) {
      throw unauthorized();
    }
    throw error;
  }
  const { actor } = opened;
  const project = opened.project!;
  if (
    actor.kind === 'user' &&
    !SCOPES[attachments ? 'attachments' : purpose].some((scope) => actor.scopes.has(scope))
  ) {
    throw forbidden('the token has not the scope for this');
  }
  const allowed =
    can(actor, project, attachments ? 'read_project' : 'read_code') &&
    (purpose === 'read' || can(actor, project, 'push_code'));
  if (allowed) return { actor, project };
  if (actor.kind === 'anonymous') throw unauthorized();
  if (purpose === 'write' && project.project.archived) throw forbidden('the project is archived');
  throw forbidden(
    purpose === 'read'
      ? 'You are not allowed to download code from this project.'
      : 'You are not allowed to push code to this project.',
  );
}

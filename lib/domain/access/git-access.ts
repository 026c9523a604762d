import type { TokenScope } from '../../records/tokens.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { DomainError, forbidden, unauthorized } from '../errors.ts';
import { deployCredential, openWithDeployToken } from './deploy-access.ts';
import { jobCredential, openWithJobToken } from './job-access.ts';
import { openRequest } from './open-request.ts';
import { can } from './permissions.ts';
import type { GitAccess, OpenRequest, ProjectAccess, RequestContext } from './types.ts';

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
  return request.web === undefined ? whereGitIsAllowed(deps, openAny(deps, request)) : openAny(deps, request);
}

/** What is opened, if Git over HTTP is allowed. @throws 403 */
export async function whereGitIsAllowed<T>(deps: Deps, opening: Promise<T>): Promise<T> {
  const [opened, settings] = await Promise.all([opening, deps.settings.current()]);
  if (settings.enabled_git_access_protocol === 'ssh') throw forbidden('Git access over HTTP is not allowed');
  return opened;
}

export type GitRequest = Pick<OpenRequest, 'credential' | 'origin' | 'admission' | 'prefetch'> & {
  fullPath: string;
  purpose: 'read' | 'write';
  /**
   * A download of a web page: the setting of Git's protocols does not concern it. Attached files are for all who may see
   * the project, and `fullPath` may be its id.
   */
  web?: 'code' | 'attachments';
  /** With what access an actor pushes who may not push to all of the project. Without it they do not. */
  pushAccess?: (deps: Deps, actor: Actor, access: ProjectAccess) => Promise<ProjectAccess | undefined>;
};

/**
 * Requires what {@link openGit} answers 401 without, and reads no more than that takes: nobody who is signed in with a
 * token of his own is told to sign in otherwise, whatever he may do.
 * @throws 401; 403 for the token's scopes; what `openGit` throws with other credentials
 */
export async function requireSignIn(deps: Deps, request: GitRequest): Promise<void> {
  const { credential } = request;
  const isOwn =
    credential.kind !== 'none' &&
    deployCredential(credential) === undefined &&
    jobCredential(credential) === undefined;
  if (isOwn) await openForGit(deps, request, {});
  else await openGit(deps, request);
}

async function openAny(deps: Deps, request: GitRequest): Promise<GitAccess> {
  const { credential, fullPath, purpose } = request;
  const attachments = request.web === 'attachments';
  const deploy = deployCredential(credential);
  if (deploy !== undefined && attachments) throw unauthorized();
  if (deploy !== undefined) return openWithDeployToken(deps, deploy, request);
  const job = attachments ? undefined : jobCredential(credential);
  if (job !== undefined) return openWithJobToken(deps, job, request);
  const opened = await openForGit(deps, request, { project: fullPath });
  const { actor } = opened;
  const project = opened.project!;
  const allowed =
    can(actor, project, attachments ? 'read_project' : 'read_code') &&
    (purpose === 'read' || can(actor, project, 'push_code'));
  if (allowed) return { actor, project };
  if (actor.kind === 'anonymous') throw unauthorized();
  const shared = purpose === 'write' ? await request.pushAccess?.(deps, actor, project) : undefined;
  if (shared !== undefined) return { actor, project: shared };
  if (purpose === 'write' && project.project.archived) throw forbidden('the project is archived');
  throw forbidden(
    purpose === 'read'
      ? 'You are not allowed to download code from this project.'
      : 'You are not allowed to push code to this project.',
  );
}

/**
 * Signs a Git client in and opens what its path names, as far as the caller may know of it.
 * @throws 401, 404 and, for the token's scopes, 403, as {@link openGit} does
 */
export async function openForGit(
  deps: Deps,
  request: GitRequest,
  named: { readonly project?: string; readonly group?: string },
): Promise<RequestContext> {
  const { credential, purpose, prefetch, origin, admission } = request;
  // Anonymous callers never push.
  if (purpose === 'write' && credential.kind === 'none') throw unauthorized();
  let opened: RequestContext;
  try {
    opened = await openRequest(deps, {
      credential,
      ...named,
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
  const scopes = SCOPES[request.web === 'attachments' ? 'attachments' : purpose];
  if (actor.kind === 'user' && !scopes.some((scope) => actor.scopes.has(scope))) {
    throw forbidden('the token has not the scope for this');
  }
  return opened;
}

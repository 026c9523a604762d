import type { DeployTokenRecord } from '../../records/tokens.ts';
import type { Credential } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { forbidden, notFound, unauthorized } from '../errors.ts';
import { readsAs } from '../rate-limits/long-reads.ts';
import { type Admission, whileCounted } from '../rate-limits/request-counting.ts';
import { effectiveAccess, MembershipCache } from './effective-level.ts';
import { locateProject } from './locate.ts';
import { prefetch, projectAccess, resourceOf } from './open-request.ts';
import { can, canSee } from './permissions.ts';
import type { Prefetch } from './prefetch.ts';
import { hasEnded, isUsername, TOKEN_PREFIXES, tokenHash } from './token-check.ts';
import type { GitAccess, OpenRequest, RequestContext } from './types.ts';

/** A deploy token as a Git client sends it: with its username. */
export interface DeployCredential {
  readonly username: string;
  readonly token: string;
}

/** @returns undefined for any other kind of credential */
export function deployCredential(credential: Credential): DeployCredential | undefined {
  if (credential.kind !== 'token' || credential.username === undefined) return undefined;
  const { username, token } = credential;
  return token.startsWith(TOKEN_PREFIXES.deploy) ? { username, token } : undefined;
}

/**
 * Opens a repository with a deploy token. The token reads its project, or the projects of its group and its
 * descendants. For other projects the caller has the rights of an anonymous one. It never writes.
 *
 * @throws 401 for an invalid token, 404 for a project that it may not see, 403 for a missing scope or right
 */
export async function openWithDeployToken(
  deps: Deps,
  credential: DeployCredential,
  request: {
    readonly fullPath: string;
    readonly purpose: 'read' | 'write';
    readonly prefetch?: Prefetch | undefined;
    readonly admission?: Admission | undefined;
  },
): Promise<GitAccess> {
  const { actor, access, covers, token, prefetched } = await opened(deps, credential, {
    ...request,
    project: request.fullPath,
  });
  if (request.purpose === 'write') throw forbidden('You are not allowed to push code to this project.');
  if (covers && !token.scopes.includes('read_repository')) throw withoutScope();
  const off = access.project.settings['repository_access_level'] === 'disabled';
  if (off || (!covers && !can(actor, access, 'read_code'))) {
    throw forbidden('You are not allowed to download code from this project.');
  }
  return { actor, project: { ...access, ...(covers && { hidesProposals: false }), ...prefetched } };
}

/**
 * Opens the project of a request with a deploy token, whose user name does not matter. Of a project that is not its own
 * the caller has the rights of an anonymous one, and writes nothing.
 * @throws 401, 404 and 403, as {@link openWithDeployToken}
 */
export async function openRequestWithDeployToken(
  deps: Deps,
  { credential, project, admission, deploy: use }: OpenRequest,
): Promise<RequestContext> {
  const shown = { token: credential.kind === 'token' ? credential.token : '' };
  if (project === undefined)
    return { actor: ANONYMOUS, deployToken: await validToken(deps, shown, { admission }) };
  const { actor, access, covers, token } = await opened(deps, shown, { project, admission });
  if (!covers && use?.writes !== true) return { actor, project: access };
  if (!covers || (use?.writes === true && access.project.archived)) throw forbidden();
  if (!use?.scopes.some((scope) => token.scopes.includes(scope))) throw withoutScope();
  return { actor, project: access, deployToken: token };
}

const ANONYMOUS = { kind: 'anonymous' } as const;

const withoutScope = () => forbidden('the token has not the scope for this');

/** A deploy token as it was shown; without a user name none is asked for. */
type ShownToken = Pick<DeployCredential, 'token'> & Partial<DeployCredential>;

/** @throws 401; the request then counts as unauthenticated */
async function validToken(
  deps: Deps,
  { token: text, username }: ShownToken,
  { admission }: { readonly admission?: Admission | undefined },
): Promise<DeployTokenRecord> {
  const token = await deps.store.deployTokens.byHash(tokenHash(text));
  const isRight = token !== undefined && (username === undefined || isUsername(token, username));
  if (isRight && !hasEnded(token, deps.now())) return token;
  await admission?.admit(admission.stranger);
  throw unauthorized();
}

/** A project as the holder of a deploy token sees it. @throws 401, 404 */
async function opened(
  deps: Deps,
  credential: ShownToken,
  request: {
    /** Numeric id or full path. */
    readonly project: string;
    readonly prefetch?: Prefetch | undefined;
    readonly admission?: Admission | undefined;
  },
) {
  const { admission } = request;
  const [token, located] = await Promise.all([
    validToken(deps, credential, request),
    locateProject(deps, request.project),
  ]);
  let prefetched: ReturnType<typeof prefetch>;
  const memberships = new MembershipCache(deps);
  const caller = { kind: 'deploy-token', id: token.id } as const;
  const [project] = await whileCounted(admission, caller, () => {
    prefetched = prefetch(deps, located, request.prefetch);
    return Promise.all([
      located.record ?? deps.store.projects.get(located.id),
      memberships.read(located.ancestorIds, [], undefined),
    ]);
  });
  const actor = ANONYMOUS;
  const access = project && (await projectAccess(actor, project, memberships));
  const resource = project && (await effectiveAccess(memberships, resourceOf(project), undefined));
  if (access === undefined || resource === undefined) throw notFound('Project');
  const { kind, id } = token.resource;
  const covers =
    kind === 'project' ? access.project.id === id : resource.parents.some((group) => group.id === id);
  if (!covers && !canSee(actor, access)) throw notFound('Project');
  if (access.project.deletedAt !== null) throw notFound('Project');
  readsAs(deps, caller, access.project.id);
  return { actor, access, covers, token, prefetched };
}

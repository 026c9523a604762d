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
import type { GitAccess } from './types.ts';

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
  const { fullPath, purpose, admission } = request;
  const [token, located] = await Promise.all([
    deps.store.deployTokens.byHash(tokenHash(credential.token)),
    locateProject(deps, fullPath),
  ]);
  if (token === undefined || !isUsername(token, credential.username) || hasEnded(token, deps.now())) {
    await admission?.admit(admission.stranger);
    throw unauthorized();
  }
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
  const actor = { kind: 'anonymous' } as const;
  const access = project && (await projectAccess(actor, project, memberships));
  const resource = project && (await effectiveAccess(memberships, resourceOf(project), undefined));
  if (access === undefined || resource === undefined) throw notFound('Project');
  const { kind, id } = token.resource;
  const covers =
    kind === 'project' ? access.project.id === id : resource.parents.some((group) => group.id === id);
  if (!covers && !canSee(actor, access)) throw notFound('Project');
  if (access.project.deletedAt !== null) throw notFound('Project');
  if (purpose === 'write') throw forbidden('You are not allowed to push code to this project.');
  if (covers && !token.scopes.includes('read_repository')) {
    throw forbidden('the token has not the scope for this');
  }
  const off = access.project.settings['repository_access_level'] === 'disabled';
  if (off || (!covers && !can(actor, access, 'read_code'))) {
    throw forbidden('You are not allowed to download code from this project.');
  }
  readsAs(deps, caller, access.project.id);
  return { actor, project: { ...access, ...prefetched } };
}

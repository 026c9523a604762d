import type { Credential } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { forbidden, notFound, unauthorized } from '../errors.ts';
import { type Admission, whileCounted } from '../rate-limits/request-counting.ts';
import { effectiveAccess, MembershipCache } from './effective-level.ts';
import { locateProject } from './locate.ts';
import { prefetch, projectAccess, resourceOf } from './open-request.ts';
import { can, canSee } from './permissions.ts';
import type { Prefetch } from './prefetch.ts';
import { hasEnded, isUsername, TOKEN_PREFIXES, tokenHash } from './token-check.ts';
import type { GitAccess } from './types.ts';

/** A deploy token as Git shows it: with its username. */
export interface DeployCredential {
  readonly username: string;
  readonly token: string;
}

/** @returns undefined for every other credential */
export function deployCredential(credential: Credential): DeployCredential | undefined {
  if (credential.kind !== 'token' || credential.username === undefined) return undefined;
  const { username, token } = credential;
  return token.startsWith(TOKEN_PREFIXES.deploy) ? { username, token } : undefined;
}

/**
 * What a deploy token reads: its project, or what stands in its group. To everything else it adds nothing: a public
 * project is everybody's. It never writes.
 *
 * @throws 401 for a token that is not good, 404 for what it does not know of, 403
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
  const surroundings = new MembershipCache(deps);
  const caller = { kind: 'deploy-token', id: token.id } as const;
  const [project] = await whileCounted(admission, caller, () => {
    prefetched = prefetch(deps, located, request.prefetch);
    return Promise.all([
      located.record ?? deps.store.projects.get(located.id),
      surroundings.read(located.ancestorIds, [], undefined),
    ]);
  });
  const actor = { kind: 'anonymous' } as const;
  const access = project && (await projectAccess(actor, project, surroundings));
  const place = project && (await effectiveAccess(surroundings, resourceOf(project), undefined));
  if (access === undefined || place === undefined) throw notFound('Project');
  const { kind, id } = token.resource;
  const holds =
    kind === 'project' ? access.project.id === id : place.parents.some((group) => group.id === id);
  if (!holds && !canSee(actor, access)) throw notFound('Project');
  if (access.project.deletedAt !== null) throw notFound('Project');
  if (purpose === 'write') throw forbidden('You are not allowed to push code to this project.');
  if (holds && !token.scopes.includes('read_repository')) {
    throw forbidden('the token has not the scope for this');
  }
  const off = access.project.settings['repository_access_level'] === 'disabled';
  if (off || (!holds && !can(actor, access, 'read_code'))) {
    throw forbidden('You are not allowed to download code from this project.');
  }
  return { actor, project: { ...access, ...prefetched } };
}

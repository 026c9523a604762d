import type { Credential } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { forbidden, notFound, unauthorized } from '../errors.ts';
import { type Admission, whileCounted } from '../rate-limits/request-counting.ts';
import { MembershipCache } from './effective-level.ts';
import { REPORTER } from './levels.ts';
import { locateProject } from './locate.ts';
import { prefetch, projectAccess } from './open-request.ts';
import { can, canSee } from './permissions.ts';
import type { Prefetch } from './prefetch.ts';
import { JOB_USERNAME, tokenHash } from './token-check.ts';
import type { GitAccess } from './types.ts';

/** @returns the token of a job; undefined for any other kind of credential */
export function jobCredential(credential: Credential): string | undefined {
  if (credential.kind !== 'token' || credential.username !== JOB_USERNAME) return undefined;
  return credential.token;
}

/**
 * Opens a repository with the token of a running job. It reads its project; other projects as anybody does. It never
 * writes.
 * @throws 401 for a token of no running job, 404 for a project that it may not see, 403 for pushes and a disabled repository
 */
export async function openWithJobToken(
  deps: Deps,
  token: string,
  request: {
    readonly fullPath: string;
    readonly purpose: 'read' | 'write';
    readonly prefetch?: Prefetch | undefined;
    readonly admission?: Admission | undefined;
  },
): Promise<GitAccess> {
  const { fullPath, purpose, admission } = request;
  const [job, located] = await whileCounted(admission, admission?.stranger, () =>
    Promise.all([deps.store.jobs.withToken(tokenHash(token)), locateProject(deps, fullPath)]),
  );
  if (job?.status !== 'running') throw unauthorized();
  const prefetched = prefetch(deps, located, request.prefetch);
  const memberships = new MembershipCache(deps);
  const [project] = await Promise.all([
    located.record ?? deps.store.projects.get(located.id),
    memberships.read(located.ancestorIds, [], undefined),
  ]);
  const actor = { kind: 'anonymous' } as const;
  const access = project && (await projectAccess(actor, project, memberships));
  if (access === undefined || access.project.deletedAt !== null) throw notFound('Project');
  const own = access.project.id === job.projectId;
  if (!own && !canSee(actor, access)) throw notFound('Project');
  if (purpose === 'write') throw forbidden('You are not allowed to push code to this project.');
  const off = access.project.settings['repository_access_level'] === 'disabled';
  if (off || (!own && !can(actor, access, 'read_code')))
    throw forbidden('You are not allowed to download code from this project.');
  return {
    actor,
    project: { ...access, ...(own ? { level: REPORTER, hidesProposals: false } : {}), ...prefetched },
  };
}

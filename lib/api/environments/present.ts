import { can } from '../../domain/access/permissions.ts';
import type { ProjectAccess } from '../../domain/access/types.ts';
import type { Actor } from '../../domain/actor.ts';
import type { FoundDeployment } from '../../domain/environments/deployments.ts';
import type { Grantees } from '../../domain/project-relations/grantees.ts';
import { cloneRoot } from '../../domain/repository/clone-url.ts';
import type { DeploymentRecord, EnvironmentRecord } from '../../records/environments.ts';
import type { EnvironmentRule } from '../../records/refs.ts';
import type { UserRecord } from '../../records/users.ts';
import { accessLevels } from '../branches/present.ts';
import type { ApiDeps } from '../endpoint.ts';
import { presentedJobs } from '../pipelines/present.ts';
import { projectBasic } from '../projects/present.ts';
import { userBasic } from '../users/present.ts';

/** The fields that tell which environment it is. */
export const entry = ({ id, name, slug, externalUrl }: EnvironmentRecord) => ({
  id,
  name,
  slug,
  external_url: externalUrl,
});

const environment = (record: EnvironmentRecord) => ({
  ...entry(record),
  state: record.state,
  tier: record.tier,
  auto_stop_at: record.autoStopAt ?? null,
  created_at: record.createdAt,
  updated_at: record.updatedAt,
});

/** What shows environments with their project, as all answers do but that of a single one. */
export async function environmentsOf(deps: ApiDeps, actor: Actor, access: ProjectAccess, baseUrl: string) {
  const roots = { baseUrl, cloneRoot: await cloneRoot(deps, baseUrl) };
  const project = projectBasic(access.project, roots, can(actor, access, 'read_code'));
  return (record: EnvironmentRecord) => ({ ...environment(record), project });
}

export const protectedEnvironment = ({ name, deploy }: EnvironmentRule, grantees: Grantees) => ({
  name,
  deploy_access_levels: accessLevels(deploy, grantees),
});

type PresentedJob = Awaited<ReturnType<typeof presentedJobs>>[number];

/** Whom deployments are of, and the jobs that made them. */
async function factsOf(
  deps: ApiDeps,
  access: ProjectAccess,
  deployments: readonly DeploymentRecord[],
  baseUrl: string,
): Promise<{
  user(id: number): UserRecord | undefined;
  job(id: number | undefined): PresentedJob | undefined;
}> {
  const ids = [...new Set(deployments.map(({ userId }) => userId))];
  const [users, found] = await Promise.all([
    ids.length === 0 ? [] : deps.store.users.getMany(ids),
    deps.store.jobs.getMany(deployments.flatMap(({ job }) => job ?? [])),
  ]);
  const jobs = found.length === 0 ? [] : await presentedJobs(deps, access, found, baseUrl);
  const byId = new Map(jobs.map((job) => [job.id, job]));
  return {
    user: (id) => users[ids.indexOf(id)],
    job: (id) => (id === undefined ? undefined : byId.get(id)),
  };
}

const deployment = (
  record: DeploymentRecord,
  facts: Awaited<ReturnType<typeof factsOf>>,
  baseUrl: string,
) => {
  const user = facts.user(record.userId);
  return {
    id: record.id,
    iid: record.iid,
    ref: record.ref,
    sha: record.sha,
    created_at: record.createdAt,
    updated_at: record.updatedAt,
    status: record.status,
    user: user === undefined ? null : userBasic(user, baseUrl),
    deployable: facts.job(record.job?.jobId) ?? null,
  };
};

/** Deployments as responses show them, in their order. */
export async function presented(
  deps: ApiDeps,
  access: ProjectAccess,
  found: readonly FoundDeployment[],
  baseUrl: string,
) {
  const records = found.map(({ deployment }) => deployment);
  const facts = await factsOf(deps, access, records, baseUrl);
  return found.map(({ deployment: record, environment: of }) => ({
    ...deployment(record, facts, baseUrl),
    environment: { ...entry(of), created_at: of.createdAt, updated_at: of.updatedAt },
  }));
}

/** An environment with its last deployment. */
export async function presentedDetail(
  deps: ApiDeps,
  access: ProjectAccess,
  record: EnvironmentRecord,
  last: DeploymentRecord | undefined,
  baseUrl: string,
) {
  const shown =
    last === undefined ? null : deployment(last, await factsOf(deps, access, [last], baseUrl), baseUrl);
  return { ...environment(record), last_deployment: shown };
}

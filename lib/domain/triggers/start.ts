/** Starting a pipeline with the token of a trigger, or of a job that runs. */

import type { PipelineRecord, PipelineVariable } from '../../records/pipelines.ts';
import type { TriggerRecord } from '../../records/triggers.ts';
import type { UserRecord } from '../../records/users.ts';
import { projectAccesses } from '../access/project-accesses.ts';
import { projectIdOf } from '../access/project-id.ts';
import { tokenHash } from '../access/token-check.ts';
import type { ProjectAccess } from '../access/types.ts';
import { type Actor, actingFor } from '../actor.ts';
import { keyProblems, valueProblems } from '../ci-variables/rules.ts';
import type { Deps } from '../deps.ts';
import { invalid, notFound, refused } from '../errors.ts';
import { createPipeline } from '../pipelines/create.ts';
import { sealing } from '../secrets/sealing.ts';

export interface TriggerRequest {
  /** Id or full path. */
  readonly project: string;
  readonly ref: string;
  readonly token: string;
  readonly variables: Readonly<Record<string, unknown>>;
  /** What was sent, as JSON. */
  readonly payload: string;
}

/** Variables of a request. */
const MAX_GIVEN = 100;

/**
 * Makes a pipeline with the rights of the token's owner. A wrong token is not told from a project that does not exist.
 * @throws 400 for variables that are none, and where no pipeline can be made; `404 Not Found`
 */
export async function triggerPipeline(
  deps: Deps,
  origin: Actor['origin'],
  { project, ref, token, variables, payload }: TriggerRequest,
): Promise<{ readonly pipeline: PipelineRecord; readonly access: ProjectAccess }> {
  const given = variablesIn(variables);
  const caller = await callerWith(deps, token);
  if (caller === undefined) throw notFound();
  const { user, trigger } = caller;
  const actor = actingFor(user, origin?.baseUrl ?? deps.environment.baseUrl ?? '');
  const projectId = await projectIdOf(deps, project);
  if (projectId === undefined || (trigger !== undefined && trigger.projectId !== projectId)) throw notFound();
  const [access] = await projectAccesses(deps, actor, [projectId]);
  if (access === undefined) throw notFound();
  const pipeline = await createPipeline(deps, actor, access, {
    ref,
    source: trigger === undefined ? 'pipeline' : 'trigger',
    variables: given,
    payload,
  });
  if (trigger !== undefined) await deps.store.triggers.used(trigger, deps.now());
  return { pipeline, access };
}

/** Whose rights a token gives: those of the owner of a trigger, or of who started a job that runs. */
async function callerWith(
  deps: Deps,
  token: string,
): Promise<{ readonly user: UserRecord; readonly trigger?: TriggerRecord } | undefined> {
  const hash = tokenHash(token);
  const { triggers, jobs, users } = deps.store;
  const [found, job] = await Promise.all([triggers.withToken(hash), jobs.withToken(hash)]);
  if (found !== undefined) {
    const trigger = await triggers.get(sealing(deps), found.projectId, found.id);
    const user = trigger && (await users.get(trigger.ownerId));
    return trigger !== undefined && user?.state === 'active' ? { user, trigger } : undefined;
  }
  if (job?.status !== 'running') return undefined;
  const user = await users.get(job.userId);
  return user?.state === 'active' ? { user } : undefined;
}

/** @throws 400 */
function variablesIn(variables: Readonly<Record<string, unknown>>): PipelineVariable[] {
  const all = Object.entries(variables);
  if (all.some(([, value]) => typeof value !== 'string'))
    throw refused('variables needs to be a map of key-valued strings');
  if (all.length > MAX_GIVEN) throw invalid({ base: [`variables: ${MAX_GIVEN} are the most`] });
  return all.map(([key, value]) => {
    const text = value as string;
    const [problem] = [...keyProblems(key), ...valueProblems({ value: text, masked: false })];
    if (problem !== undefined) throw invalid({ base: [`variables.${key.slice(0, 255)} ${problem}`] });
    return { key, value: text, type: 'env_var' };
  });
}

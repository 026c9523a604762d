/**
 * Who may start, repeat and cancel what runs on protected branches and tags: those who may push to them. Jobs of protected
 * environments: those of them who may deploy there. What the settings have archived for its age: nobody.
 */

import { secondsOf } from '../../durations/durations.ts';
import type { JobRecord, PipelineRecord } from '../../records/pipelines.ts';
import { can } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { closedTo, isOpenedTo } from '../environments/protected.ts';
import { forbidden } from '../errors.ts';
import { refProtection } from '../refs/protection.ts';

type OnRef = Pick<JobRecord | PipelineRecord, 'ref' | 'tag' | 'createdAt'> & Pick<JobRecord, 'environment'>;

/** Whether an actor who may update pipelines may update this one, or a job of it. */
export async function mayUpdateJob(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  { ref, tag, createdAt, environment }: OnRef,
): Promise<boolean> {
  if (createdAt < (await archivedUntil(deps))) return false;
  if (environment !== undefined && (await closedTo(deps, actor, access, [environment.name])).size > 0)
    return false;
  // A merge request has the rights of its source branch only.
  if (ref.startsWith('refs/')) return true;
  const { branches, tags } = await refProtection(deps, access, actor);
  if (tag === true) return !tags.isProtected(ref) || tags.mayCreate(actor, ref);
  return !branches.isProtected(ref) || branches.mayUpdate(actor, ref);
}

/** What was created before this time is archived; empty: nothing is. */
export async function archivedUntil({ settings, now }: Deps): Promise<string> {
  const age = secondsOf((await settings.current()).archive_builds_in_human_readable ?? '');
  return age === undefined ? '' : new Date(Math.max(0, now().getTime() - age * 1000)).toISOString();
}

/** @throws 403 */
export async function requireMayUpdate(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  on: OnRef,
): Promise<void> {
  if (!(await mayUpdateJob(deps, actor, access, on))) throw forbidden();
}

/** Whom the rule of a job's environment names starts it without a right to its branch or tag. @throws 403 */
export async function requireMayPlay(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  job: JobRecord,
): Promise<void> {
  const { createdAt, environment } = job;
  if (environment !== undefined && createdAt >= (await archivedUntil(deps)))
    if (await isOpenedTo(deps, actor, access, environment.name)) return;
  if (!can(actor, access, 'update_pipeline')) throw forbidden();
  await requireMayUpdate(deps, actor, access, job);
}

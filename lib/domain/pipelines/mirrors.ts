/** Pipelines whose status jobs of other projects take over. */

import { hasEnded, type JobRecord, type PipelineRecord } from '../../records/pipelines.ts';
import { can } from '../access/permissions.ts';
import { projectAccesses } from '../access/project-accesses.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { DomainError } from '../errors.ts';
import { NotStarted } from './not-started.ts';
import { latestPipeline } from './pipelines.ts';

/** Pipelines that are told at once that another one has ended; others look every hour. */
const MAX_TOLD = 50;

/**
 * The newest pipeline of the default branch of a project. It tells when it ends, unless it has.
 * @param chain the pipeline of the job that asks, and those that started it
 * @throws NotStarted, Stale
 */
export async function watchedPipeline(
  deps: Deps,
  actor: Actor,
  path: string,
  chain: readonly PipelineRecord[],
): Promise<PipelineRecord> {
  const found = await deps.store.projects.byPath(path);
  const [access] = found === undefined ? [] : await projectAccesses(deps, actor, [found.id]);
  if (access === undefined) throw new NotStarted('upstream_bridge_project_not_found');
  if (!can(actor, access, 'read_pipelines')) throw new NotStarted('insufficient_upstream_permissions');
  const upstream = await latestPipeline(deps, access, undefined).catch((error: unknown) => {
    throw error instanceof DomainError ? new NotStarted('upstream_bridge_project_not_found') : error;
  });
  // It would wait for itself.
  if (chain.some(({ id }) => id === upstream.id)) throw new NotStarted('pipeline_loop_detected');
  const { mirrors = [] } = upstream;
  const [{ projectId, id: pipelineId }] = chain as readonly [PipelineRecord];
  if (hasEnded(upstream.status) || mirrors.some((each) => each.pipelineId === pipelineId)) return upstream;
  const told = [...mirrors, { projectId, pipelineId }].slice(-MAX_TOLD);
  return deps.store.pipelines.change(upstream, { mirrors: told });
}

/** How a job ends that takes over the status of a pipeline. @param pipeline undefined: it was deleted */
export const mirroredEnd = (
  pipeline: PipelineRecord | undefined,
): Pick<JobRecord, 'status' | 'failureReason'> =>
  pipeline === undefined || pipeline.status === 'failed'
    ? { status: 'failed', failureReason: 'unknown_failure' }
    : { status: pipeline.status, failureReason: null };

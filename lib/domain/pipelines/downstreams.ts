/** The pipelines that jobs started, as far as an actor may read them. */

import type { JobRecord, PipelineRecord } from '../../records/pipelines.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { can } from '../access/permissions.ts';
import { projectAccesses } from '../access/project-accesses.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';

interface Downstream {
  readonly project: ProjectRecord;
  readonly pipeline: PipelineRecord;
}

/** @returns by the id of the job */
export async function visibleDownstreams(
  deps: Deps,
  actor: Actor,
  jobs: readonly JobRecord[],
): Promise<ReadonlyMap<number, Downstream>> {
  const started = jobs.flatMap(({ id, downstream }) =>
    downstream === undefined ? [] : [{ id, ...downstream }],
  );
  const ids = [...new Set(started.map(({ projectId }) => projectId))];
  if (ids.length === 0) return new Map();
  const accesses = await projectAccesses(deps, actor, ids);
  const found = await Promise.all(
    started.map(async ({ id, projectId, pipelineId }) => {
      const access = accesses[ids.indexOf(projectId)];
      if (access === undefined || !can(actor, access, 'read_pipelines')) return [];
      const pipeline = await deps.store.pipelines.byId(projectId, pipelineId);
      return pipeline === undefined ? [] : [[id, { project: access.project, pipeline }] as const];
    }),
  );
  return new Map(found.flat());
}

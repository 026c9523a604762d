import type { PipelineRecord } from '../../store/pipelines/pipelines.ts';
import { can } from '../access/permissions.ts';
import { projectAccesses } from '../access/project-accesses.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import type { FoundMergeRequest } from './related.ts';

/** Versions whose heads' pipelines are listed: the newest. */
const MAX_VERSIONS = 20;

interface Pipelines {
  /** The project that they belong to, that of the source branch; undefined: hidden from the actor. */
  readonly access: ProjectAccess | undefined;
  readonly items: readonly PipelineRecord[];
}

/** The pipelines of the source branch for what it proposed, the newest first. */
export async function listPipelines(
  deps: Deps,
  actor: Actor,
  { mergeRequest, access: target }: FoundMergeRequest,
): Promise<Pipelines> {
  const { source } = mergeRequest;
  const [access] =
    source.projectId === target.project.id
      ? [target]
      : await projectAccesses(deps, actor, [source.projectId]);
  if (access === undefined || !can(actor, access, 'read_pipelines')) return { access, items: [] };
  const { items } = await deps.store.mergeRequests.versions(mergeRequest, MAX_VERSIONS);
  const heads = [...new Set(items.map(({ headSha }) => headSha))];
  const found = await Promise.all(
    heads.map((sha) => deps.store.pipelines.ofRef(source.projectId, sha, source.branch)),
  );
  return {
    access,
    items: found.filter((each) => each !== undefined).toSorted((a, b) => b.id - a.id),
  };
}

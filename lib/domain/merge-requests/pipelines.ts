import type { PipelineRecord } from '../../records/pipelines.ts';
import { can } from '../access/permissions.ts';
import { projectAccesses } from '../access/project-accesses.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import type { FoundMergeRequest } from './related.ts';

/** Versions whose heads' pipelines are listed: the newest. */
const MAX_VERSIONS = 20;

/** Pipelines of one head. */
const MAX_OF_HEAD = 10;

interface Pipelines {
  /** The project that they belong to, that of the source branch; undefined: hidden from the actor. */
  readonly access: ProjectAccess | undefined;
  readonly items: readonly PipelineRecord[];
}

/** The pipelines of the merge request, and of its source branch for what it proposed, the newest first. */
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
    heads.map((sha) => deps.store.pipelines.ofCommit(source.projectId, sha, MAX_OF_HEAD)),
  );
  const { projectId, iid } = mergeRequest;
  const isOf = ({ mergeRequest: of, ref, source: by }: PipelineRecord) =>
    of === undefined
      ? ref === source.branch && by !== 'parent_pipeline'
      : of.projectId === projectId && of.iid === iid;
  return {
    access,
    items: found
      .flat()
      .filter(isOf)
      .toSorted((a, b) => b.id - a.id),
  };
}

import { hasEnded, type PipelineRecord } from '../../records/pipelines.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { AUTO_MERGE_JOB } from '../../store/merge-requests/merge-requests.ts';
import { MAINTENANCE, message, type OutboxMessage } from '../../store/outbox/outbox.ts';
import { ADVANCE_PIPELINE_JOB } from '../../store/pipelines/pipelines.ts';
import { mergeRequestTodos } from '../../store/todos/todos.ts';
import type { Deps } from '../deps.ts';
import { notificationMessage } from '../notifications/enqueue.ts';
import { toldOfPipeline } from './tell-hooks.ts';

/** Merge requests of one branch that may wait for its pipeline. */
const MAX_WAITING = 20;

/** A pipeline, and what it was before. */
interface PipelineChange {
  readonly pipeline: PipelineRecord;
  readonly previous: PipelineRecord | undefined;
}

interface Told {
  readonly actorId: number | null;
  readonly baseUrl: string;
}

/**
 * Messages about what follows from the status of a pipeline: hooks hear of it, and when it has ended mail tells of it, merges
 * that wait for it go on, and so do the jobs that started it or take over its status.
 * @param known its project, if that is at hand
 */
export async function followUps(
  deps: Deps,
  change: PipelineChange,
  told: Told,
  known?: ProjectRecord,
): Promise<OutboxMessage[]> {
  const { pipeline, previous } = change;
  if (pipeline.status === previous?.status) return [];
  const project = known ?? (await deps.store.projects.get(pipeline.projectId));
  const heard = project === undefined ? [] : await toldOfPipeline(deps, project, pipeline, told);
  if (!hasEnded(pipeline.status)) return heard;
  const { parent, mirrors = [] } = pipeline;
  const waiting = [...(parent === undefined ? [] : [parent]), ...mirrors].map(({ projectId, pipelineId }) =>
    message(MAINTENANCE, ADVANCE_PIPELINE_JOB, { projectId, pipelineId }),
  );
  return [...heard, ...mails(change, told), ...(await ofMergeRequests(deps, pipeline, told)), ...waiting];
}

function mails({ pipeline, previous }: PipelineChange, { actorId, baseUrl }: Told): OutboxMessage[] {
  const { id, projectId, sha, status, source } = pipeline;
  // A pipeline of another one is told of with that.
  if ((status !== 'success' && status !== 'failed') || source === 'parent_pipeline') return [];
  const before = previous?.outcome ?? null;
  const happening = { kind: 'pipeline', projectId, sha, pipelineId: id, outcome: status, before } as const;
  return [notificationMessage({ actorId, baseUrl, happening })];
}

/**
 * Merge requests of the branch whose pipeline has just succeeded may wait for that; of one that failed, people have to see
 * to it.
 */
async function ofMergeRequests(
  { store }: Deps,
  { projectId, ref, sha, status, mergeRequest, author, source }: PipelineRecord,
  { baseUrl }: Told,
): Promise<OutboxMessage[]> {
  if (status !== 'success' && status !== 'failed') return [];
  // A pipeline of another one fails with that.
  if (status === 'failed' && source === 'parent_pipeline') return [];
  const proposals =
    mergeRequest === undefined
      ? await store.mergeRequests.openFrom({ projectId, branch: ref }, MAX_WAITING)
      : [mergeRequest];
  return proposals.flatMap(({ projectId: into, iid }) =>
    status === 'success'
      ? [message(MAINTENANCE, AUTO_MERGE_JOB, { projectId: into, iid, baseUrl })]
      : mergeRequestTodos({ projectId: into, iid }, { authorId: author.id, failedSha: sha }),
  );
}

import type { JobRecord, PipelineRecord } from '../../records/pipelines.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { JobChange } from '../../store/jobs/jobs.ts';
import { type OutboxMessage, outboxWrites } from '../../store/outbox/outbox.ts';
import { mapLimit } from '../../store/table/map-limit.ts';
import type { Deps } from '../deps.ts';
import { changedStatuses, toldOfJobs } from './tell-hooks.ts';

/** Transactions at a time. */
const WIDTH = 8;
/** Rows of a transaction that are left to messages. */
const BESIDE = 50;

/**
 * Changes jobs of a pipeline, however many; hooks hear of their statuses. Nothing moves the pipeline on: each message that
 * does reads all of its jobs.
 * @param jobs all of them
 * @param promised what is stored beside the change of a job
 * @returns all jobs as they are then. @throws Stale
 */
export async function changeJobs(
  deps: Deps,
  { project, pipeline }: { readonly project: ProjectRecord; readonly pipeline: PipelineRecord },
  jobs: readonly JobRecord[],
  changes: readonly JobChange[],
  promised: (change: JobChange) => readonly OutboxMessage[] = () => [],
): Promise<JobRecord[]> {
  const { store } = deps;
  const all = new Map(jobs.map((job) => [job.id, job]));
  await mapLimit(WIDTH, store.jobs.groupsOf(changes, BESIDE), async (group) => {
    const changed = await store.jobs.change(group, {
      advance: false,
      alongside: outboxWrites(group.flatMap(promised)),
      messages: await toldOfJobs(deps, project, pipeline, changedStatuses(group)),
    });
    for (const job of changed) all.set(job.id, job);
  });
  return [...all.values()];
}

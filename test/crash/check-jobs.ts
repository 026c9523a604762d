import type { JobRecord, PipelineRecord } from '../../lib/records/pipelines.ts';
import {
  jobIdKey,
  jobKey,
  jobSpecKey,
  jobStateKey,
  jobTokenKey,
  queuedJobKey,
  resourceHolderKey,
  resourceWaiterKey,
  runnerJobKey,
} from '../../lib/store/row-keys/jobs.ts';
import { idOf } from '../../lib/store/row-keys/key.ts';
import { pipelineIdKey } from '../../lib/store/row-keys/pipelines.ts';
import { livingOf } from './records.ts';
import { keyText, type Row, rowCheck } from './rows.ts';

/**
 * Every job is found by its id and by its status, and waits in its queues exactly while it is pending; a resource group has
 * one holder; what leads to a job leads to one that exists. Jobs of a pipeline that does not exist are those of a writer that
 * ended: their pipeline's id is announced, and goes with the project.
 */
export const jobs = rowCheck(
  [
    'job',
    'job-spec',
    'pipeline-variables',
    'job-id',
    'job-state',
    'job-resource',
    'queued-job',
    'job-token',
    'runner-job',
  ],
  function* (rows) {
    const living = new Set(livingOf(rows).map(({ id }) => id));
    const all = rows.of('PIPELINE_JOBS#').filter(({ sk }) => sk.startsWith('JOB#')) as unknown as (Row &
      JobRecord)[];
    const wanted = new Set<string>();
    for (const job of all) {
      const { id, projectId, pipelineId, status, resourceGroup, kind, scopes, tokenHash, runnerId } = job;
      if (!living.has(projectId)) continue;
      const what = `job ${id} of pipeline ${pipelineId}`;
      const leads = function* (key: { pk: string; sk: string }, how: string): Iterable<string> {
        wanted.add(keyText(key));
        if (rows.get(key) === undefined) yield `${what} is not found ${how}`;
      };
      if (keyText(jobKey(pipelineId, id)) !== keyText(job)) yield `${what} stands at ${keyText(job)}`;
      if (rows.get(pipelineIdKey(projectId, pipelineId)) === undefined)
        yield `${what} is of a pipeline that nothing announces`;
      if (rows.get(jobSpecKey(pipelineId, id)) === undefined) yield `${what} has nothing to do`;
      yield* leads(jobIdKey(id), 'by its id');
      yield* leads(jobStateKey(projectId, status, id), 'by its status');
      if (status === 'pending' && kind === 'build')
        for (const scope of scopes) yield* leads(queuedJobKey(scope, id), `in the queue ${scope}`);
      if (tokenHash !== undefined) yield* leads(jobTokenKey(tokenHash), 'by its token');
      if (runnerId !== null) yield* leads(runnerJobKey(runnerId, id), 'by its runner');
      if (resourceGroup === undefined) continue;
      if (status === 'pending' || status === 'running') {
        const holder = resourceHolderKey(projectId, resourceGroup);
        yield* leads(holder, 'as the holder of its resource group');
        if (rows.get(holder)?.['jobId'] !== id) yield `${what} runs beside the holder of its resource group`;
      }
      if (status === 'waiting_for_resource')
        yield* leads(resourceWaiterKey(projectId, resourceGroup, id), 'among those that wait');
    }
    const ofDeleted = (row: Row) => {
      const id = Number(/^PROJECT_JOBS#(\d+)/.exec(row.pk)?.[1] ?? row['projectId'] ?? Number.NaN);
      return !Number.isNaN(id) && !living.has(id);
    };
    for (const kind of ['JOB_ID#', 'PROJECT_JOBS#', 'JOB_QUEUE#', 'JOB_TOKEN#', 'RUNNER_JOBS#'] as const)
      for (const row of rows.of(kind))
        if (!wanted.has(keyText(row)) && !ofDeleted(row)) yield `${keyText(row)} leads nowhere`;
  },
);

/** What the jobs of a project have left is counted. */
export const artifacts = rowCheck(['artifacts-total'], function* (rows) {
  const kept = new Map<number, number>();
  for (const { sk, projectId, artifacts: files } of rows.of('PIPELINE_JOBS#') as unknown as (Row &
    JobRecord)[])
    if (sk.startsWith('JOB#'))
      kept.set(
        projectId,
        files.reduce((sum, { size }) => sum + size, kept.get(projectId) ?? 0),
      );
  const totals = Map.groupBy(rows.of('ARTIFACTS#'), ({ pk }) => idOf(pk));
  for (const { id } of livingOf(rows)) {
    const counted = (totals.get(id) ?? []).reduce((sum, { bytes }) => sum + (bytes as number), 0);
    const bytes = kept.get(id) ?? 0;
    if (counted !== bytes) yield `project ${id} counts ${counted} bytes of its jobs, which have ${bytes}`;
  }
});

/** A trace is of a job of its project. */
export const jobTraces = rowCheck(['job-trace'], function* (rows) {
  const living = new Set(livingOf(rows).map(({ id }) => id));
  for (const row of rows.of('JOB_TRACES#')) {
    const [projectId, jobId] = [idOf(row.pk), idOf(row.sk)];
    if (!living.has(projectId)) continue;
    if (!((row['size'] as number) > 0)) yield `${keyText(row)} is empty`;
    if (rows.get(jobIdKey(jobId))?.['projectId'] !== projectId) yield `${keyText(row)} is of no job`;
  }
});

/** A pipeline's status says whether any of its jobs goes on. */
export const advanced = rowCheck(['job'], function* (rows) {
  const living = new Set(livingOf(rows).map(({ id }) => id));
  const pipelines = rows
    .of('PIPELINES#')
    .filter(({ sk }) => /^COMMIT#[^#]+#PIPELINE#/.test(sk)) as unknown as (Row & PipelineRecord)[];
  const byId = new Map(pipelines.map((pipeline) => [pipeline.id, pipeline]));
  const all = rows.of('PIPELINE_JOBS#').filter(({ sk }) => sk.startsWith('JOB#')) as unknown as (Row &
    JobRecord)[];
  for (const { id, projectId, pipelineId, status, retried } of all) {
    if (!living.has(projectId) || retried) continue;
    const pipeline = byId.get(pipelineId);
    if (pipeline === undefined) continue;
    const open = ['pending', 'running', 'waiting_for_resource'].includes(status);
    const ended = ['success', 'failed', 'canceled', 'skipped'].includes(pipeline.status);
    if (open && ended) yield `pipeline ${pipelineId} is ${pipeline.status}, and its job ${id} is ${status}`;
  }
});

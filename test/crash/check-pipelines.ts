import type { PipelineRecord } from '../../lib/records/pipelines.ts';
import type { CommitStatusRecord } from '../../lib/store/pipelines/reported-statuses.ts';
import { type Key, padded } from '../../lib/store/row-keys/key.ts';
import {
  commitRowKey,
  pipelineIdKey,
  pipelineIidKey,
  pipelineOfRefKey,
  pipelinePlaceKey,
  pipelinesPartition,
  refPipelineKey,
  statusOfNameKey,
} from '../../lib/store/row-keys/pipelines.ts';
import { livingOf } from './records.ts';
import { keyText, type Row, type Rows, rowCheck } from './rows.ts';

/** Pipelines count their statuses, and every row that leads to one of either leads to one that exists. */
export const pipelines = rowCheck(
  [
    'pipeline',
    'status',
    'latest-status',
    'pipeline-of-ref',
    'status-of-name',
    'pipeline-id',
    'ref-pipeline',
    'pipeline-in-list',
    'pipeline-iid',
  ],
  function* (rows) {
    const byProject = Map.groupBy(rows.of('PIPELINES#'), ({ pk }) => pk);
    for (const { id } of livingOf(rows)) {
      const own = byProject.get(pipelinesPartition(id)) ?? [];
      if (own.length > 0) yield* ofProject(rows, id, own);
    }
  },
);

const placesOf = ({ projectId, id, status, updatedAt, ref, author }: PipelineRecord): Key[] => [
  pipelinePlaceKey(projectId, 'STATUS', status, id),
  pipelinePlaceKey(projectId, 'UPDATED', updatedAt, id),
  pipelinePlaceKey(projectId, 'NAME', ref, id),
  pipelinePlaceKey(projectId, 'USER', padded(author.id), id),
];

function* ofProject(rows: Rows, projectId: number, own: readonly Row[]): Iterable<string> {
  const kindOf = ({ sk }: Row) => (sk.startsWith('COMMIT#') ? sk.split('#')[2] : sk.split('#')[0]);
  const byKind = Map.groupBy(own, kindOf);
  const records = <T>(kind: string) => (byKind.get(kind) ?? []) as unknown as (T & Row)[];
  const all = records<PipelineRecord>('PIPELINE');
  const statuses = records<CommitStatusRecord>('STATUS');
  const wanted = new Set<string>();
  const leads = (key: Key, to: Record<string, unknown>) => {
    wanted.add(keyText(key));
    const row = rows.get(key);
    return Object.entries(to).every(([name, value]) => row?.[name] === value) && row !== undefined;
  };
  const iid = rows.get(pipelineIidKey(projectId))?.['n'] as number | undefined;
  for (const pipeline of all) {
    const { id, sha, ref } = pipeline;
    const what = `pipeline ${id} of project ${projectId}`;
    if (keyText(commitRowKey(projectId, sha, 'PIPELINE', id)) !== keyText(pipeline))
      yield `${what} stands at ${keyText(pipeline)}`;
    if (!leads(pipelineIdKey(projectId, id), { sha })) yield `${what} is not found by its id`;
    if (!leads(refPipelineKey(projectId, ref, id), { sha })) yield `${what} is not found by its ref`;
    if (pipeline.source !== 'parent_pipeline' && !leads(pipelineOfRefKey(projectId, sha, ref), {}))
      yield `${what} is not found by commit and ref`;
    for (const place of placesOf(pipeline))
      if (!leads(place, { sha })) yield `${what} is not found at ${keyText(place)}`;
    if (pipeline.iid > (iid ?? 0))
      yield `${what} has the number ${pipeline.iid}, and the last given is ${iid}`;
    const inside = statuses.filter(({ pipelineId }) => pipelineId === id);
    if (inside.length !== pipeline.statuses)
      yield `${what} counts ${pipeline.statuses} statuses and has ${inside.length}`;
    const latest = inside.filter((status) => rows.get(commitRowKey(projectId, sha, 'LATEST', status.id)));
    const counted = Object.values(pipeline.states).reduce((sum, n) => sum + n, 0);
    if (latest.length !== counted) yield `${what} counts ${counted} latest statuses and has ${latest.length}`;
    for (const { id: statusId, name } of latest) {
      wanted.add(keyText(commitRowKey(projectId, sha, 'LATEST', statusId)));
      if (!leads(statusOfNameKey(projectId, sha, id, name), { statusId }))
        yield `status ${statusId} of project ${projectId} is not found by its name`;
    }
  }
  for (const status of statuses) {
    if (!all.some(({ id }) => id === status.pipelineId))
      yield `status ${status.id} of project ${projectId} is of pipeline ${status.pipelineId}, which does not exist`;
  }
  for (const row of own) {
    // An announced one does not exist yet, or never came to be.
    const leading = !['PIPELINE', 'STATUS', 'IID', 'ID'].includes(kindOf(row) ?? '');
    if (leading && !wanted.has(keyText(row))) yield `${keyText(row)} leads nowhere`;
  }
}

/** The rows of pipelines. */
import type { PipelineRecord } from '../../records/pipelines.ts';
import { type Key, padded } from '../row-keys/key.ts';
import { commitRowKey, pipelineIdKey, pipelinePlaceKey, refPipelineKey } from '../row-keys/pipelines.ts';
import { userPartition, userRow } from '../row-keys/users.ts';
import { ABSENT, type Item, type Write } from '../table/write.ts';

/** The rows of a new pipeline, but for that of its commit and ref. */
export function newPipeline(pipeline: PipelineRecord): Write[] {
  const { projectId, sha, id, ref, author } = pipeline;
  const who = { who: userPartition(author.id), what: userRow('PIPELINE', id) };
  return [
    {
      put: { ...commitRowKey(projectId, sha, 'PIPELINE', id), ...pipeline, ...who },
      if: ABSENT,
      reason: 'pipeline',
    },
    { put: { ...pipelineIdKey(projectId, id), sha } },
    { put: { ...refPipelineKey(projectId, ref, id), sha } },
    ...placesOf(pipeline).map((place) => ({ put: { ...place, sha } })),
  ];
}

export function changedPipeline(before: PipelineRecord, after: PipelineRecord): Write[] {
  const { projectId, sha, id, author } = after;
  const [was, is] = [placesOf(before), placesOf(after)];
  const moved = is.flatMap((place, i) =>
    place.sk === was[i]!.sk ? [] : [{ delete: was[i]! }, { put: { ...place, sha } }],
  );
  const who = { who: userPartition(author.id), what: userRow('PIPELINE', id) };
  return [
    {
      put: { ...commitRowKey(projectId, sha, 'PIPELINE', id), ...after, ...who },
      if: '#version = :was',
      values: { was: before.version },
      reason: 'pipeline',
    },
    ...moved,
  ];
}

export const placesOf = ({ projectId, id, status, updatedAt, ref, author }: PipelineRecord): Key[] => [
  pipelinePlaceKey(projectId, 'STATUS', status, id),
  pipelinePlaceKey(projectId, 'UPDATED', updatedAt, id),
  pipelinePlaceKey(projectId, 'NAME', ref, id),
  pipelinePlaceKey(projectId, 'USER', padded(author.id), id),
];

/** A pipeline, or a status that was reported. */
export function fromItem({ pk: _p, sk: _s, who: _w, what: _a, ...record }: Item): unknown {
  return record;
}

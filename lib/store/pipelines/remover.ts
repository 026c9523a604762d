import type { PipelineRecord } from '../../records/pipelines.ts';
import type { DeletedUser, Remover } from '../deletion/remover.ts';
import { ignoreRefusal } from '../errors.ts';
import { anonymize } from '../notes/anonymize.ts';
import { type Key, padded } from '../row-keys/key.ts';
import { commitRowKey, pipelinePlaceKey } from '../row-keys/pipelines.ts';
import { userPartition, userRow } from '../row-keys/users.ts';
import { untilNoneLeft } from '../table/delete-page.ts';
import type { Table } from '../table/table.ts';
import { PRESENT } from '../table/write.ts';
import type { Pipelines } from './pipelines.ts';
import type { CommitStatusRecord } from './reported-statuses.ts';

interface Stores {
  readonly table: Table;
  readonly pipelines: Pipelines;
}

export const remover: Remover<Stores> = {
  ofProject: {
    rows: [
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
    run: ({ pipelines }, { id }, deadline) => untilNoneLeft(() => pipelines.removeOfProject(id), deadline),
  },
  ofUserRows: {
    rows: ['pipeline', 'status'],
    byRow: {
      // Pipelines and statuses stay; only their author is replaced.
      PIPELINE: ({ table }, row, user) => anonymizePipeline(table, row, user),
      STATUS: async ({ table }, { pk, sk }, user) => {
        const status = (await table.get({ pk, sk })) as CommitStatusRecord | undefined;
        if (status === undefined) return;
        await anonymize(table, { pk, sk }, user.ghost);
        // One of an earlier release names nobody in the index.
        const { projectId, sha, pipelineId } = status;
        await anonymizePipeline(table, commitRowKey(projectId, sha, 'PIPELINE', pipelineId), user);
      },
    },
  },
};

async function anonymizePipeline(
  table: Table,
  { pk, sk }: Key,
  { userId, ghost }: Pick<DeletedUser, 'userId' | 'ghost'>,
): Promise<void> {
  const pipeline = (await table.get({ pk, sk })) as PipelineRecord | undefined;
  if (pipeline === undefined || pipeline.author.id !== userId) return;
  const { projectId, id, sha } = pipeline;
  const placeOf = (by: number) => pipelinePlaceKey(projectId, 'USER', padded(by), id);
  await table
    .transact([
      {
        update: { pk, sk },
        set: { author: ghost, who: userPartition(ghost.id), what: userRow('PIPELINE', id) },
        // Whoever changes it meanwhile reads it again.
        add: { version: 1 },
        if: `${PRESENT} AND #author.#id = :was`,
        values: { was: userId },
        reason: 'pipeline',
      },
      { delete: placeOf(userId) },
      { put: { ...placeOf(ghost.id), sha } },
    ])
    .catch(ignoreRefusal);
}

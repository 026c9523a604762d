import type { Remover } from '../deletion/remover.ts';
import { ignoreRefusal } from '../errors.ts';
import { anonymize } from '../notes/anonymize.ts';
import { commitRowKey } from '../row-keys/pipelines.ts';
import { untilNoneLeft } from '../table/delete-page.ts';
import type { Table } from '../table/table.ts';
import { PRESENT } from '../table/write.ts';
import type { CommitStatusRecord, Pipelines } from './pipelines.ts';

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
      'pipeline-iid',
    ],
    run: ({ pipelines }, { id }, deadline) => untilNoneLeft(() => pipelines.removeOfProject(id), deadline),
  },
  ofUserRows: {
    rows: ['status'],
    byRow: {
      // Keep the status, and the pipeline that it may have created; only the author is replaced.
      STATUS: async ({ table }, { pk, sk }, { userId, ghost }) => {
        const status = (await table.get({ pk, sk })) as CommitStatusRecord | undefined;
        if (status === undefined) return;
        const pipeline = commitRowKey(status.projectId, status.sha, 'PIPELINE', status.pipelineId);
        await anonymize(table, { pk, sk }, ghost);
        await table
          .update({
            update: pipeline,
            set: { author: ghost },
            if: `${PRESENT} AND #author.#id = :was`,
            values: { was: userId },
          })
          .catch(ignoreRefusal);
      },
    },
  },
};

import type { Remover } from '../deletion/remover.ts';
import { treePartition } from '../row-keys/groups.ts';
import { deletePage, untilNoneLeft } from '../table/delete-page.ts';
import type { Table } from '../table/table.ts';
import { finishedMoveRows, removeTreeRows } from './tree.ts';

const BATCH = 100;

export const remover: Remover<{ readonly table: Table }> = {
  ofProject: { rows: [], rowsWithRecord: ['tree-node'] },
  ofGroup: {
    rows: ['tree-node', 'share', 'share-below', 'pending-move'],
    /** All rows that are left under the group. */
    run: ({ table }, { id }, deadline) =>
      untilNoneLeft(() => deletePage(table, { partition: treePartition(id), limit: BATCH }), deadline),
    // Its rows under the groups above, which find it until then.
    last: (group) => [...removeTreeRows({ kind: 'group', ...group }), ...finishedMoveRows(group)],
  },
};

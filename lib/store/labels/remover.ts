import type { Remover } from '../deletion/remover.ts';
import { deleteRow, untilNoneLeft } from '../table/delete-page.ts';
import type { Table } from '../table/table.ts';
import type { Labels } from './labels.ts';

interface Stores {
  readonly table: Table;
  readonly labels: Labels;
}

const rows = ['label', 'label-title', 'label-count', 'label-subscription', 'label-priority'] as const;

export const remover: Remover<Stores> = {
  ofProject: {
    rows,
    run: async ({ labels }, { id }, deadline) =>
      (await untilNoneLeft(() => labels.removeOf({ kind: 'project', id }), deadline)) &&
      untilNoneLeft(() => labels.forgetPriorities(id), deadline),
  },
  ofGroup: {
    rows,
    run: ({ labels }, { id }, deadline) =>
      untilNoneLeft(() => labels.removeOf({ kind: 'group', id }), deadline),
  },
  ofUserRows: { rows: ['label-subscription'], byRow: { LABEL: deleteRow } },
};

import type { Remover } from '../deletion/remover.ts';
import { deleteRow, untilNoneLeft } from '../table/delete-page.ts';
import type { Table } from '../table/table.ts';
import type { Labels } from './labels.ts';

interface Stores {
  readonly table: Table;
  readonly labels: Labels;
}

const rows = ['label', 'label-title', 'label-count', 'label-subscription'] as const;

export const remover: Remover<Stores> = {
  ofProject: {
    rows,
    run: ({ labels }, { id }, deadline) =>
      untilNoneLeft(() => labels.removeOf({ kind: 'project', id }), deadline),
  },
  ofGroup: {
    rows,
    run: ({ labels }, { id }, deadline) =>
      untilNoneLeft(() => labels.removeOf({ kind: 'group', id }), deadline),
  },
  ofUserRows: { rows: ['label-subscription'], byRow: { LABEL: deleteRow } },
};

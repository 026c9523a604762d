import type { Remover } from '../deletion/remover.ts';
import { anonymize } from '../notes/anonymize.ts';
import { deleteRow, untilNoneLeft } from '../table/delete-page.ts';
import type { Table } from '../table/table.ts';
import type { Awards } from './award-emoji.ts';

interface Stores {
  readonly table: Table;
  readonly awards: Awards;
}

const rows = ['award', 'awards-of-user'] as const;

export const remover: Remover<Stores> = {
  ofProject: {
    rows,
    run: ({ awards }, { id }, deadline) =>
      untilNoneLeft(() => awards.removeOf({ kind: 'project', id }), deadline),
  },
  ofGroup: {
    rows,
    run: ({ awards }, { id }, deadline) =>
      untilNoneLeft(() => awards.removeOf({ kind: 'group', id }), deadline),
  },
  ofUserRows: {
    rows,
    byRow: {
      AWARD: ({ table, awards }, row, { hard, ghost }) =>
        hard ? awards.removeOfUser(row) : anonymize(table, row, ghost),
      AWARDED: deleteRow,
    },
  },
};

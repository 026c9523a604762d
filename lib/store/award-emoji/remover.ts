import type { Remover } from '../deletion/remover.ts';
import { anonymize } from '../notes/anonymize.ts';
import { deleteRow, untilNoneLeft } from '../table/delete-page.ts';
import type { Table } from '../table/table.ts';
import type { Awards } from './award-emoji.ts';

interface Stores {
  readonly table: Table;
  readonly awards: Awards;
}

export const remover: Remover<Stores> = {
  ofProject: {
    rows: ['award', 'awards-of-user'],
    run: ({ awards }, { id }, deadline) => untilNoneLeft(() => awards.removeOfProject(id), deadline),
  },
  ofUserRows: {
    rows: ['award', 'awards-of-user'],
    byRow: {
      AWARD: ({ table, awards }, row, { hard, ghost }) =>
        hard ? awards.removeOfUser(row) : anonymize(table, row, ghost),
      AWARDED: deleteRow,
    },
  },
};

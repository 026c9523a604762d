import type { Remover } from '../deletion/remover.ts';
import { deleteRow, untilNoneLeft } from '../table/delete-page.ts';
import type { Table } from '../table/table.ts';
import { anonymize } from './anonymize.ts';
import type { Notes } from './notes.ts';
import type { Threads } from './participants.ts';

interface Stores {
  readonly table: Table;
  readonly notes: Notes;
  readonly threads: Threads;
}

export const remover: Remover<Stores> = {
  ofProject: {
    rows: ['note', 'participant'],
    run: async ({ notes, threads }, { id }, deadline) =>
      (await untilNoneLeft(() => notes.removeOfProject(id), deadline)) &&
      untilNoneLeft(() => threads.removeOfProject(id), deadline),
  },
  ofUserRows: {
    rows: ['note', 'participant'],
    byRow: {
      NOTE: (stores, row, { hard, ghost }) =>
        hard ? deleteRow(stores, row) : anonymize(stores.table, row, ghost),
      THREAD: deleteRow,
    },
  },
};

import type { Remover } from '../deletion/remover.ts';
import { deleteRow, untilNoneLeft } from '../table/delete-page.ts';
import type { Table } from '../table/table.ts';
import type { LfsObjects } from './objects.ts';

export const remover: Remover<{ readonly table: Table; readonly lfsObjects: LfsObjects }> = {
  ofProject: {
    rows: ['lfs-object', 'lfs-total', 'lfs-heir', 'lfs-lock'],
    run: ({ lfsObjects }, { id }, deadline) =>
      untilNoneLeft(() => lfsObjects.removeOfProject(id, new Date()), deadline),
  },
  ofUserRows: {
    rows: ['lfs-lock'],
    byRow: { LFSLOCK: ({ table }, row) => deleteRow({ table }, row) },
  },
};

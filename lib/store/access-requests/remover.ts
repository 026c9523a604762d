import type { Remover } from '../deletion/remover.ts';
import { deleteRow, untilNoneLeft } from '../table/delete-page.ts';
import type { Table } from '../table/table.ts';
import type { AccessRequests } from './access-requests.ts';

interface Stores {
  readonly table: Table;
  readonly accessRequests: AccessRequests;
}

export const remover: Remover<Stores> = {
  ofProject: {
    rows: ['access-request'],
    run: ({ accessRequests }, { id }, deadline) =>
      untilNoneLeft(() => accessRequests.removeOfResource({ kind: 'project', id }), deadline),
  },
  ofGroup: {
    rows: ['access-request'],
    run: ({ accessRequests }, { id }, deadline) =>
      untilNoneLeft(() => accessRequests.removeOfResource({ kind: 'group', id }), deadline),
  },
  ofUserRows: { rows: ['access-request'], byRow: { REQUEST: deleteRow, GROUPREQUEST: deleteRow } },
};

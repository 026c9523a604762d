import type { Remover } from '../deletion/remover.ts';
import { untilNoneLeft } from '../table/delete-page.ts';
import type { Table } from '../table/table.ts';
import { removeAbout } from './custom-attributes.ts';

interface Stores {
  readonly table: Table;
}

const rows = ['custom-attributes', 'custom-attribute', 'avatar'] as const;

export const remover: Remover<Stores> = {
  ofProject: {
    rows,
    run: ({ table }, { id }, deadline) =>
      untilNoneLeft(() => removeAbout(table, { kind: 'project', id }), deadline),
  },
  ofGroup: {
    rows,
    run: ({ table }, { id }, deadline) =>
      untilNoneLeft(() => removeAbout(table, { kind: 'group', id }), deadline),
  },
};

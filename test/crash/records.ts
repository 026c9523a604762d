import type { Row, Rows } from './rows.ts';

export const usersOf = (rows: Rows) =>
  rows
    .of('USER#')
    .flatMap((row) => (row.sk === 'USER' ? [{ type: 'user', id: row['id'] as number, row } as const] : []));

export const projectsOf = (rows: Rows): Row[] => rows.of('PROJECT#').filter(({ sk }) => sk === 'PROJECT');

/** Projects that are not deleted. */
export const livingOf = (rows: Rows) =>
  projectsOf(rows).flatMap((row) =>
    row['deletedAt'] === null ? [{ type: 'project', id: row['id'] as number, row } as const] : [],
  );

/** Groups that are not deleted. */
export const groupsOf = (rows: Rows) =>
  rows
    .of('GROUP#')
    .flatMap((row) =>
      row.sk === 'GROUP' && row['deletedAt'] === null
        ? [{ type: 'group', id: row['id'] as number, row } as const]
        : [],
    );

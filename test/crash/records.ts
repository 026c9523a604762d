import { ownerOfRepository, type RepositoryOwner } from '../../lib/records/repository-owner.ts';
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

/** The records of owners of repositories beside code, by kind and id; those too that are on their way out. */
export function repositoryOwners(rows: Rows): (owner: RepositoryOwner) => Row | undefined {
  const byId = (records: readonly Row[]) => new Map(records.map((row) => [row['id'] as number, row]));
  const records = {
    'project-wiki': byId(projectsOf(rows)),
    'group-wiki': byId(rows.of('GROUP#').filter(({ sk }) => sk === 'GROUP')),
    snippet: byId(rows.of('SNIPPET#').filter(({ sk }) => sk === 'SNIPPET')),
  } satisfies Record<RepositoryOwner['kind'], ReadonlyMap<number, Row>>;
  return ({ kind, id }) => records[kind].get(id);
}

/** The repositories of wikis and snippets that have rows, with the record of their owner. */
export function lazyRepositoriesOf(
  rows: Rows,
): readonly { readonly repositoryId: string; readonly owner: Row | undefined }[] {
  const ids = new Set(rows.of('REPO#').map(({ pk }) => pk.slice('REPO#'.length)));
  const recordOf = repositoryOwners(rows);
  return [...ids].flatMap((repositoryId) => {
    const owner = ownerOfRepository(repositoryId);
    return owner === undefined ? [] : [{ repositoryId, owner: recordOf(owner) }];
  });
}

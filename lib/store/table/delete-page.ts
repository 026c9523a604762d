import type { Key } from '../row-keys/key.ts';
import type { Table } from './table.ts';

/** Deletes the first `limit` rows of a partition. @returns whether any are left */
export async function deletePage(
  table: Table,
  rows: { readonly partition: string; readonly prefix?: string; readonly limit: number },
): Promise<boolean> {
  const page = await table.query({ ...rows, only: ['pk', 'sk'] });
  await Promise.all(
    (page.items as unknown as Key[]).map(({ pk, sk }) => table.delete({ delete: { pk, sk } })),
  );
  return page.next !== undefined;
}

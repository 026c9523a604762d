import type { Key } from '../row-keys/key.ts';
import type { Table } from './table.ts';

/** Takes away the first rows of a partition, those of a subject that is gone. @returns whether any are left */
export async function removeSome(
  table: Table,
  rows: { readonly partition: string; readonly prefix?: string; readonly limit: number },
): Promise<boolean> {
  const page = await table.query({ ...rows, only: ['pk', 'sk'] });
  await Promise.all(
    (page.items as unknown as Key[]).map(({ pk, sk }) => table.delete({ delete: { pk, sk } })),
  );
  return page.next !== undefined;
}

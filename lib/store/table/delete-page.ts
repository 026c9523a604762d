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

/**
 * Repeats a step that deletes a page of rows until none is left.
 * @param step returns whether any are left
 * @param deadline milliseconds since 1970; no step but the first begins after it
 * @returns whether none is left
 */
export async function untilNoneLeft(step: () => Promise<boolean>, deadline: number): Promise<boolean> {
  while (await step()) if (Date.now() > deadline) return false;
  return true;
}

export const deleteRow = ({ table }: { readonly table: Table }, { pk, sk }: Key): Promise<unknown> =>
  table.delete({ delete: { pk, sk } });

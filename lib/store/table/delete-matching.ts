import { ConditionFailed } from '../errors.ts';
import type { Table } from './table.ts';
import type { Item } from './write.ts';

const CONCURRENCY = 16;

/**
 * Deletes rows, 16 at a time.
 * @param on returns a row's condition, or undefined to keep the row. A row whose condition fails is kept
 */
export async function deleteMatching(
  table: Table,
  rows: AsyncIterable<Item>,
  on: (row: Item) => { if?: string; values?: Item } | undefined,
): Promise<void> {
  let running: Promise<void>[] = [];
  for await (const row of rows) {
    const condition = on(row);
    if (condition === undefined) continue;
    const { pk, sk } = row as { pk: string; sk: string };
    const deletion = table.delete({ delete: { pk, sk }, ...condition }).catch((error: unknown) => {
      if (!(error instanceof ConditionFailed)) throw error;
    });
    if (running.push(deletion) === CONCURRENCY) {
      await Promise.all(running);
      running = [];
    }
  }
  await Promise.all(running);
}

import { ConditionFailed } from '../errors.ts';
import type { Table } from './table.ts';
import type { Item } from './write.ts';

/** Sixteen at a time; `on` gives each row's condition, or undefined to leave it. A refused one stays. */
export async function removeEach(
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
    if (running.push(deletion) === 16) {
      await Promise.all(running);
      running = [];
    }
  }
  await Promise.all(running);
}

/**
 * Promises that are kept in the order of the transactions that made them. A list has a row for each, written with its
 * message; queues give the messages in any order, and twice. Whoever has one keeps all promises of the list up to it, so
 * nobody waits for another worker, or for a request that died before it sent its message.
 */
import { ConditionFailed } from '../errors.ts';
import { promiseKey, promisesPartition } from '../row-keys/outbox.ts';
import type { Table } from '../table/table.ts';
import { type Item, PRESENT } from '../table/write.ts';

export interface PromiseRow {
  /** Of its message. */
  readonly id: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly hookCall?: string;
  /** Nobody waits for it: its message is delivered for the last time. */
  readonly late?: true;
}

export class PromisesInOrder {
  readonly #table: Table;
  constructor(table: Table) {
    this.#table = table;
  }

  async get(list: string, id: string): Promise<PromiseRow | undefined> {
    return fromItem(await this.#table.get(promiseKey(list, id)));
  }

  /** The first ones of a list that are to be kept before a message is done, and what it promises itself. */
  async upTo(list: string, id: string, limit: number): Promise<PromiseRow[]> {
    const found: PromiseRow[] = [];
    for await (const item of this.#table.queryAll({ partition: promisesPartition(list), to: id, limit })) {
      const row = fromItem(item)!;
      if (row.late !== true || row.id === id) found.push(row);
      if (found.length === limit) break;
    }
    return found;
  }

  /** It was kept. */
  async kept(list: string, id: string): Promise<void> {
    await this.#table.delete({ delete: promiseKey(list, id) });
  }

  /** From now on nobody waits for it. */
  async waitNoMore(list: string, id: string): Promise<void> {
    try {
      await this.#table.update({ update: promiseKey(list, id), set: { late: true }, if: PRESENT });
    } catch (error) {
      // It was kept.
      if (!(error instanceof ConditionFailed)) throw error;
    }
  }
}

function fromItem(item: Item | undefined): PromiseRow | undefined {
  if (item === undefined) return undefined;
  const { pk: _p, sk: id, ttl: _t, w: _w, ...row } = item;
  return { id, ...row } as unknown as PromiseRow;
}

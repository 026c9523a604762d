import type { WriteUnits } from './table.ts';

/** `ConsumedCapacity` of one table, in the API's shape. */
export interface ConsumedCapacity {
  TableName: string;
  CapacityUnits: number;
  ReadCapacityUnits?: number;
  WriteCapacityUnits?: number;
  Table?: Units;
  GlobalSecondaryIndexes?: Record<string, Units>;
}
interface Units {
  CapacityUnits: number;
  ReadCapacityUnits?: number;
  WriteCapacityUnits?: number;
}

/** Read units for a number of bytes: one per started 4 KB, at least one; half for an eventually consistent read. */
export function readUnits(bytes: number, consistent: boolean): number {
  return Math.max(1, Math.ceil(bytes / 4096)) * (consistent ? 1 : 0.5);
}

/** The capacity one operation consumed, by table and index. */
export class CapacityMeter {
  readonly #tables = new Map<string, { read: WriteUnits; write: WriteUnits }>();

  read(table: string, units: number, index?: string): void {
    add(this.#of(table).read, units, index);
  }

  /** @param factor 2 in a transaction, which writes each item twice (its index rows only once) */
  write(table: string, units: WriteUnits, factor: 1 | 2 = 1): void {
    const { write } = this.#of(table);
    add(write, units.table * factor);
    for (const [index, indexUnits] of Object.entries(units.indexes)) add(write, indexUnits, index);
  }

  get readUnits(): number {
    return [...this.#tables.values()].reduce((sum, { read }) => sum + total(read), 0);
  }

  get writeUnits(): number {
    return [...this.#tables.values()].reduce((sum, { write }) => sum + total(write), 0);
  }

  /**
   * In the shape that a request's `ReturnConsumedCapacity` selects; undefined for NONE.
   * @param split adds `ReadCapacityUnits` and `WriteCapacityUnits`, as transactions do
   */
  report(requested: string | undefined, split?: 'split'): ConsumedCapacity[] | undefined {
    if (requested !== 'TOTAL' && requested !== 'INDEXES') return undefined;
    return [...this.#tables].map(([TableName, { read, write }]) => {
      const units = (reads: number, writes: number): Units => ({
        CapacityUnits: reads + writes,
        ...(split && reads ? { ReadCapacityUnits: reads } : {}),
        ...(split && writes ? { WriteCapacityUnits: writes } : {}),
      });
      const sum: ConsumedCapacity = { TableName, ...units(total(read), total(write)) };
      if (requested === 'TOTAL') return sum;
      sum.Table = units(read.table, write.table);
      const names = new Set([...Object.keys(read.indexes), ...Object.keys(write.indexes)]);
      if (names.size) {
        sum.GlobalSecondaryIndexes = Object.fromEntries(
          [...names].map((name) => [name, units(read.indexes[name] ?? 0, write.indexes[name] ?? 0)]),
        );
      }
      return sum;
    });
  }

  #of(table: string) {
    let found = this.#tables.get(table);
    if (!found) {
      found = { read: { table: 0, indexes: {} }, write: { table: 0, indexes: {} } };
      this.#tables.set(table, found);
    }
    return found;
  }
}

function add(units: WriteUnits, amount: number, index?: string): void {
  if (index === undefined) units.table += amount;
  else units.indexes[index] = (units.indexes[index] ?? 0) + amount;
}

function total({ table, indexes }: WriteUnits): number {
  return Object.values(indexes).reduce((sum, units) => sum + units, table);
}

/** Writes a table of any number of refs; only a few rows of it are held in memory. */
import type { Ref } from '../../git/ports.ts';
import { type RefSpace, spaceOf } from '../../git/refname.ts';
import { REF_TABLES, refRankKey, refSort, refTableKey, refTablePartition } from '../row-keys/repository.ts';
import { deleteMatching } from '../table/delete-matching.ts';
import type { Table } from '../table/table.ts';
import { chunkRow, isListed, lineOf } from './ref-table.ts';

/** Numbers of listed branches and tags. */
export type RefCounts = Readonly<Record<RefSpace, number>>;

export function countsOf(refs: readonly Ref[]): RefCounts {
  const counts = { heads: 0, tags: 0 };
  for (const ref of refs) {
    const space = spaceOf(ref.name);
    if (space !== undefined && isListed(ref)) counts[space]++;
  }
  return counts;
}

/** Characters of refs in one row; compression reduces them to less than half. */
const CHUNK = 32_000;
const PUT_CONCURRENCY = 16;

/**
 * Registers the table and writes its rows. They are not read before the guards name the table.
 * @param refs sorted by key, as {@link RefTable.walk} yields them
 */
export async function writeRefTable(
  table: Table,
  repositoryId: string,
  tableId: string,
  refs: AsyncIterable<readonly Ref[]> | Iterable<readonly Ref[]>,
  now = new Date(),
): Promise<RefCounts> {
  await table.put({ put: { ...refTableKey(repositoryId, tableId), writtenAt: now.toISOString() } });
  const writer = new Writer(table, repositoryId, tableId);
  try {
    for await (const some of refs) {
      for (const ref of some) writer.add(ref);
      await writer.drain();
    }
    return await writer.finish();
  } finally {
    await writer.settled();
  }
}

/** Deletes a table that no guard names. */
export async function removeRefTable(table: Table, repositoryId: string, tableId: string): Promise<void> {
  const partition = refTablePartition(repositoryId, tableId);
  await deleteMatching(table, table.queryAll({ partition, only: ['pk', 'sk'] }), () => ({}));
  await table.delete({ delete: refTableKey(repositoryId, tableId) });
}

/** Yields all tables of a repository that were written and not deleted. */
export async function* refTables(table: Table, repositoryId: string) {
  const { pk, sk: prefix } = refTableKey(repositoryId, '');
  for await (const { sk, writtenAt } of table.queryAll({ partition: pk, prefix }))
    yield { id: (sk as string).slice(REF_TABLES.length), writtenAt: Date.parse(writtenAt as string) };
}

class Writer {
  readonly #table: Table;
  readonly #repositoryId: string;
  readonly #tableId: string;
  readonly #puts = new Set<Promise<void>>();
  #failure: unknown;
  /** A run is written when the key of the next one is known. */
  #closed: Ref[] = [];
  #run: Ref[] = [];
  #size = 0;
  #space: RefSpace | undefined;
  #counts = { heads: 0, tags: 0 };

  constructor(table: Table, repositoryId: string, tableId: string) {
    this.#table = table;
    this.#repositoryId = repositoryId;
    this.#tableId = tableId;
  }

  add(ref: Ref): void {
    const space = spaceOf(ref.name);
    // Ranks are counted by run: no run has both branches and tags.
    if (this.#run.length > 0 && (this.#size >= CHUNK || space !== this.#space)) this.#close();
    if (this.#run.length === 0) this.#begin(ref, space);
    this.#run.push(ref);
    this.#size += lineOf(ref).length + 1;
    if (space !== undefined && isListed(ref)) this.#counts[space]++;
  }

  /** Waits while too many writes are in progress. */
  async drain(): Promise<void> {
    while (this.#puts.size >= PUT_CONCURRENCY) await Promise.race(this.#puts);
    if (this.#failure !== undefined) throw this.#failure;
  }

  async finish(): Promise<RefCounts> {
    this.#close();
    this.#write(undefined);
    await this.settled();
    if (this.#failure !== undefined) throw this.#failure;
    return this.#counts;
  }

  async settled(): Promise<void> {
    await Promise.all(this.#puts);
  }

  #begin(first: Ref, space: RefSpace | undefined): void {
    const chunk = refSort(first.name);
    this.#write(chunk);
    this.#space = space;
    if (space === undefined) return;
    const key = refRankKey(this.#repositoryId, this.#tableId, space, this.#counts[space]);
    this.#put({ ...key, chunk });
  }

  #close(): void {
    this.#closed = this.#run;
    this.#run = [];
    this.#size = 0;
  }

  #write(next: string | undefined): void {
    if (this.#closed.length > 0) this.#put(chunkRow(this.#repositoryId, this.#tableId, this.#closed, next));
    this.#closed = [];
  }

  #put(put: { pk: string; sk: string } & Record<string, unknown>): void {
    const running = this.#table
      .put({ put })
      .catch((error: unknown) => {
        this.#failure ??= error;
      })
      .finally(() => this.#puts.delete(running));
    this.#puts.add(running);
  }
}

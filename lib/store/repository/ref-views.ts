/** Reads of many refs: a consistent view of all or of those with certain prefixes, and pages of branches and tags. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ref, RefPage, RefPageQuery, RefSnapshot, RefView } from '../../git/ports.ts';
import { type RefName, spacePrefix } from '../../git/refname.ts';
import { Missing, StoreUnavailable } from '../errors.ts';
import {
  guardKey,
  headKey,
  REF,
  refNamesKey,
  refPrefixSort,
  refSort,
  repositoryPartition,
} from '../row-keys/repository.ts';
import { compareText } from '../table/text-order.ts';
import type { Item } from '../table/write.ts';
import { addedBy, amended, type RefRow, rowsOf } from './ref-rows.ts';
import type { RefSnapshots } from './ref-snapshot.ts';
import { isListed, RefTable } from './ref-table.ts';
import { type Guard, guardOf, randomStripe } from './state.ts';

const MAX_ATTEMPTS = 30;
/** With more prefixes all refs are read. */
const MAX_RANGES = 16;
/** Rows read at a time for a page. */
const ROW_BATCH = 100;
const LAST = '\u{10ffff}';

export class RefViews {
  readonly #snapshots: RefSnapshots;
  constructor(snapshots: RefSnapshots) {
    this.#snapshots = snapshots;
  }

  /**
   * Reads a consistent view. Transactions of several refs increment `multi`, which is read before the rows and again after
   * them. If it changed, the rows may hold only a part of such a transaction and are read again. It sorts after all refs,
   * so one descending query reads it before them. The ref table is immutable, and is read lazily.
   */
  async view(prefixes: readonly string[] = ['']): Promise<RefView> {
    const ranges = rangesOf(prefixes);
    const partition = repositoryPartition(this.#snapshots.id);
    // Rows are few: one query covers all ranges.
    const from = ranges
      .map((prefix) => (prefix === '' ? REF : refPrefixSort(prefix)))
      .toSorted(compareText)[0]!;
    for (let n = 0; n < MAX_ATTEMPTS; n++) {
      if (n > 3) await sleep(Math.random() * 5 * n);
      const [read, [before, ...rows]] = await Promise.all([
        this.#snapshots.withGuard([headKey(this.#snapshots.id)]),
        collect(
          this.#snapshots.table.queryAll({
            partition,
            from,
            to: refNamesKey(this.#snapshots.id).sk,
            reverse: true,
          }),
        ),
      ]);
      const { guard } = read;
      if (guard.state === 'deleted') throw new Missing('repository');
      const [guardAfter, after] = await this.#snapshots.table.batchGet([
        guardKey(this.#snapshots.id, randomStripe()),
        refNamesKey(this.#snapshots.id),
      ]);
      if (after?.['multi'] !== before?.['multi'] || guardOf(guardAfter)?.refTable !== guard.refTable)
        continue;
      return this.#viewOf(read.rows[0]!['target'] as RefName, guard, rows.toReversed());
    }
    throw new StoreUnavailable(false, new Error('the refs keep changing'));
  }

  #viewOf(head: RefName, { refTable }: Guard, items: readonly Item[]): RefView {
    const stored = this.#tableOf(refTable);
    return {
      head,
      refs: (prefix = '', after) => {
        const from = after === undefined ? undefined : behind(after);
        const rows = rowsOf(items, refTable, prefix);
        const wanted = from === undefined ? rows : rows.filter(({ sort }) => compareText(sort, from) >= 0);
        return amended(stored.walk(prefix, { from }), once(wanted));
      },
    };
  }

  /** Returns a ref with a prefix, if there is any besides `except`. Not a consistent view. */
  async anyBelow(prefix: string, guard: Guard, except: ReadonlySet<RefName>): Promise<RefName | undefined> {
    const stored = this.#tableOf(guard.refTable).walk(prefix, { few: true });
    for await (const refs of amended(stored, this.#rows(prefix, undefined, guard))) {
      const found = refs.find(({ name }) => !except.has(name));
      if (found !== undefined) return found.name;
    }
    return undefined;
  }

  /**
   * Returns a page of branches or tags. The cost depends on the number of rows that amend the table, not of refs: a page
   * at an offset reads all rows, to know how many names come before it.
   */
  async page(query: RefPageQuery): Promise<RefPage> {
    const { id } = this.#snapshots;
    for (let n = 0; n < MAX_ATTEMPTS; n++) {
      const rows = this.#pageRows(query);
      const first = rows.next().catch((error: Error) => error);
      const read = await this.#snapshots.besideGuard([refNamesKey(id)]);
      const [guard, names] = [read.guard, read.rows[0]];
      if (guard.state === 'deleted') throw new Missing('repository');
      const begun = await first;
      if (begun instanceof Error) throw begun;
      const total = (names?.[query.space] as number | undefined) ?? 0;
      const page = await this.#pageOf(query, guard, total, begun.value ?? [], rows);
      // If the table was replaced meanwhile, rows that amend it may be deleted.
      if (page !== undefined) return page;
    }
    throw new StoreUnavailable(false, new Error('the refs keep changing'));
  }

  async #pageOf(
    query: RefPageQuery,
    guard: Guard,
    total: number,
    begun: readonly Item[],
    rest: AsyncGenerator<readonly Item[]>,
  ): Promise<RefPage | undefined> {
    const { space, after, descending = false } = query;
    const prefix = spacePrefix(space);
    const requested = query.offset ?? 0;
    const offset = descending ? Math.max(0, total - requested - query.limit) : requested;
    const limit = descending ? Math.min(query.limit, total - requested) : query.limit;
    const stored = this.#tableOf(guard.refTable);
    let from = after === undefined ? undefined : behind(after);
    let checking = this.#stillInForce(guard);
    let rows: readonly RefRow[] = rowsOf(begun, guard.refTable, prefix);
    let skip = offset;
    if (offset > 0) {
      const start = await stored.positionOf(space, Math.max(0, offset - rows.filter(isNew).length));
      if (start !== undefined && start.rank > 0) {
        from = start.from;
        skip -= start.rank + addedBy(rows.filter(({ sort }) => compareText(sort, start.from) < 0));
        rows = rows.filter(({ sort }) => compareText(sort, start.from) >= 0);
      }
    }
    let readOn = false;
    const more = async function* () {
      yield rows;
      for await (const items of rest) {
        readOn = true;
        yield rowsOf(items, guard.refTable, prefix);
      }
    };
    const refs: Ref[] = [];
    if (limit > 0) {
      for await (const run of amended(stored.walk(prefix, { from, few: true }), more())) {
        for (const ref of run) {
          if (!isListed(ref)) continue;
          if (skip > 0) skip--;
          else if (refs.push(ref) > limit) break;
        }
        if (refs.length > limit) break;
      }
    }
    if (readOn) checking = this.#stillInForce(guard);
    if (!(await checking)) return undefined;
    const page = refs.slice(0, limit);
    return descending
      ? { refs: page.toReversed(), total, more: offset > 0 }
      : { refs: page, total, more: refs.length > limit };
  }

  async #stillInForce({ refTable }: Guard): Promise<boolean> {
    const { id, table } = this.#snapshots;
    return guardOf(await table.get(guardKey(id, randomStripe())))?.refTable === refTable;
  }

  /** All rows of a space at once where their number matters, else in batches. */
  #pageRows({ space, after, offset = 0, descending }: RefPageQuery): AsyncGenerator<readonly Item[]> {
    const prefix = spacePrefix(space);
    if (offset > 0 || descending === true) return this.#allItems(prefix);
    return this.#items(prefix, after);
  }

  async *#allItems(prefix: string): AsyncGenerator<readonly Item[]> {
    const partition = repositoryPartition(this.#snapshots.id);
    yield await collect(this.#snapshots.table.queryAll({ partition, prefix: refPrefixSort(prefix) }));
  }

  async *#items(prefix: string, after: string | undefined): AsyncGenerator<readonly Item[]> {
    const start = refPrefixSort(prefix);
    const from = after === undefined ? start : later(behind(after), start);
    const range = { partition: repositoryPartition(this.#snapshots.id), from, to: `${start}${LAST}` };
    for (let startKey: Item | undefined; ; ) {
      const page = await this.#snapshots.table.query({
        ...range,
        limit: ROW_BATCH,
        ...(startKey === undefined ? {} : { startKey }),
      });
      yield page.items;
      startKey = page.next;
      if (startKey === undefined) return;
    }
  }

  async *#rows(prefix: string, after: string | undefined, { refTable }: Guard) {
    for await (const items of this.#items(prefix, after)) yield rowsOf(items, refTable, prefix);
  }

  #tableOf(refTable: string): RefTable {
    return new RefTable(this.#snapshots.table, this.#snapshots.id, refTable);
  }
}

/** Reads a whole view. */
export async function snapshotOf({ head, refs }: RefView, prefix = ''): Promise<RefSnapshot> {
  const all: Ref[] = [];
  for await (const some of refs(prefix)) all.push(...some);
  return { head, refs: all.toSorted((a, b) => compareText(a.name, b.name)) };
}

const isNew = ({ ref, was }: RefRow) => !was && ref !== undefined && isListed(ref);
/** The smallest key after this name. */
const behind = (name: string) => `${refSort(name)}\u0000`;
const later = (a: string, b: string) => (compareText(a, b) > 0 ? a : b);

/** The prefixes to read; all refs if there are too many. */
function rangesOf(prefixes: readonly string[]): readonly string[] {
  return prefixes.length === 0 || prefixes.length > MAX_RANGES ? [''] : prefixes;
}

async function* once<T>(value: T): AsyncGenerator<T> {
  yield value;
}

async function collect(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** Many refs of a repository at once: a view of all or of those under prefixes, and pages of branches and tags. */
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

const SNAPSHOTS = 30;
/** Of more prefixes the whole is read. */
const MAX_RANGES = 16;
/** Rows read at first for a page, and rows read on at a time. */
const SOME_ROWS = 100;
const LAST = '\u{10ffff}';

export class RefViews {
  readonly #looks: RefSnapshots;
  constructor(looks: RefSnapshots) {
    this.#looks = looks;
  }

  /**
   * Transactions of several refs raise `multi`, which is read before the rows and again after them. When it moved
   * meanwhile, part of such a transaction may have been seen, so they are read again. It sorts behind all refs, so
   * backwards it comes before them, with one query. The table in force never changes, and is read as it is walked.
   */
  async view(prefixes: readonly string[] = ['']): Promise<RefView> {
    const ranges = rangesOf(prefixes);
    const partition = repositoryPartition(this.#looks.id);
    // Rows are few: one query down to the first of the ranges.
    const from = ranges
      .map((prefix) => (prefix === '' ? REF : refPrefixSort(prefix)))
      .toSorted(compareText)[0]!;
    for (let n = 0; n < SNAPSHOTS; n++) {
      if (n > 3) await sleep(Math.random() * 5 * n);
      const [[guardItem, head], [before, ...rows]] = await Promise.all([
        this.#looks.table.batchGet([guardKey(this.#looks.id, randomStripe()), headKey(this.#looks.id)]),
        collect(
          this.#looks.table.queryAll({ partition, from, to: refNamesKey(this.#looks.id).sk, reverse: true }),
        ),
      ]);
      const guard = this.#looks.noteGuard(guardItem);
      if (guard.state === 'deleted') throw new Missing('repository');
      const [guardAfter, after] = await this.#looks.table.batchGet([
        guardKey(this.#looks.id, randomStripe()),
        refNamesKey(this.#looks.id),
      ]);
      if (after?.['multi'] !== before?.['multi'] || guardOf(guardAfter)?.refTable !== guard.refTable)
        continue;
      return this.#viewOf(head!['target'] as RefName, guard, rows.toReversed());
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

  /** Whether any ref stands under a prefix, as they stand while they are read; `but` do not count. */
  async anyBelow(prefix: string, guard: Guard, but: ReadonlySet<RefName>): Promise<RefName | undefined> {
    const stored = this.#tableOf(guard.refTable).walk(prefix, { few: true });
    for await (const refs of amended(stored, this.#rows(prefix, undefined, guard))) {
      const found = refs.find(({ name }) => !but.has(name));
      if (found !== undefined) return found.name;
    }
    return undefined;
  }

  /**
   * What it costs does not depend on how many refs there are, but on how many rows amend the table: a page further on
   * reads them all, for they tell how many names come before it.
   */
  async page(query: RefPageQuery): Promise<RefPage> {
    const { id, table } = this.#looks;
    for (let n = 0; n < SNAPSHOTS; n++) {
      const rows = this.#pageRows(query);
      const first = rows.next().catch((error: Error) => error);
      const [guardItem, names] = await table.batchGet([guardKey(id, randomStripe()), refNamesKey(id)]);
      const guard = this.#looks.noteGuard(guardItem);
      if (guard.state === 'deleted') throw new Missing('repository');
      const begun = await first;
      if (begun instanceof Error) throw begun;
      const total = (names?.[query.space] as number | undefined) ?? 0;
      const page = await this.#pageOf(query, guard, total, begun.value ?? [], rows);
      // When the table was replaced, rows that amend it may be gone.
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
    const asked = query.offset ?? 0;
    const offset = descending ? Math.max(0, total - asked - query.limit) : asked;
    const limit = descending ? Math.min(query.limit, total - asked) : query.limit;
    const stored = this.#tableOf(guard.refTable);
    let from = after === undefined ? undefined : behind(after);
    let checking = this.#stillInForce(guard);
    let rows: readonly RefRow[] = rowsOf(begun, guard.refTable, prefix);
    let skip = offset;
    if (offset > 0) {
      const place = await stored.placeOf(space, Math.max(0, offset - rows.filter(isNew).length));
      if (place !== undefined && place.rank > 0) {
        from = place.from;
        skip -= place.rank + addedBy(rows.filter(({ sort }) => compareText(sort, place.from) < 0));
        rows = rows.filter(({ sort }) => compareText(sort, place.from) >= 0);
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
    const { id, table } = this.#looks;
    return guardOf(await table.get(guardKey(id, randomStripe())))?.refTable === refTable;
  }

  /** All rows of a space where their number matters, else some at a time. */
  #pageRows({ space, after, offset = 0, descending }: RefPageQuery): AsyncGenerator<readonly Item[]> {
    const prefix = spacePrefix(space);
    if (offset > 0 || descending === true) return this.#allItems(prefix);
    return this.#items(prefix, after);
  }

  async *#allItems(prefix: string): AsyncGenerator<readonly Item[]> {
    const partition = repositoryPartition(this.#looks.id);
    yield await collect(this.#looks.table.queryAll({ partition, prefix: refPrefixSort(prefix) }));
  }

  async *#items(prefix: string, after: string | undefined): AsyncGenerator<readonly Item[]> {
    const start = refPrefixSort(prefix);
    const from = after === undefined ? start : later(behind(after), start);
    const range = { partition: repositoryPartition(this.#looks.id), from, to: `${start}${LAST}` };
    for (let startKey: Item | undefined; ; ) {
      const page = await this.#looks.table.query({
        ...range,
        limit: SOME_ROWS,
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
    return new RefTable(this.#looks.table, this.#looks.id, refTable);
  }
}

/** All of a view at once. */
export async function snapshotOf({ head, refs }: RefView, prefix = ''): Promise<RefSnapshot> {
  const all: Ref[] = [];
  for await (const some of refs(prefix)) all.push(...some);
  return { head, refs: all.toSorted((a, b) => compareText(a.name, b.name)) };
}

const isNew = ({ ref, was }: RefRow) => !was && ref !== undefined && isListed(ref);
/** The least key that a name behind this one may have. */
const behind = (name: string) => `${refSort(name)}\u0000`;
const later = (a: string, b: string) => (compareText(a, b) > 0 ? a : b);

/** None of them within another; of too many, all there is. */
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

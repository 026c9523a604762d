/**
 * An immutable sorted table of refs: its rows are written first, then the guards are set to it. Each row holds a run of
 * refs under the key of the first, so one small query finds a name, one range a prefix, and rank rows lead to the n-th
 * branch or tag.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Oid } from '../../git/oid.ts';
import type { Ref } from '../../git/ports.ts';
import { type RefName, type RefSpace, spaceOf } from '../../git/refname.ts';
import { StoreUnavailable } from '../errors.ts';
import {
  REF,
  rankOf,
  refChunkKey,
  refPrefixSort,
  refRankKey,
  refRankPrefix,
  refSort,
  refTablePartition,
} from '../row-keys/repository.ts';
import type { Table } from '../table/table.ts';
import { compareText } from '../table/text-order.ts';
import type { Item } from '../table/write.ts';
import { type RefRun, type RefRunCache, runCacheOf } from './ref-runs.ts';

/** Up to this many names are looked up individually; more share what is read. */
const MAX_SINGLE_LOOKUPS = 8;
const LOOKUP_CONCURRENCY = 8;
/** Runs read per further page for callers that need only a few refs. */
const FEW = 4;

/** Appended to a prefix, sorts after every key with that prefix. */
const LAST = '\u{10ffff}';

/** A current or former ref table; the table with the id '' is empty. */
export class RefTable {
  readonly #table: Table;
  readonly #partition: string;
  readonly #empty: boolean;
  readonly #cache: RefRunCache;

  constructor(table: Table, repositoryId: string, tableId: string) {
    this.#table = table;
    this.#partition = refTablePartition(repositoryId, tableId);
    this.#empty = tableId === '';
    this.#cache = runCacheOf(table);
  }

  /** @returns the refs of those names that are in the table; one round trip for a few names. */
  async named(names: readonly RefName[]): Promise<ReadonlyMap<RefName, Ref>> {
    const found = new Map<RefName, Ref>();
    if (this.#empty) return found;
    const requested = [...new Set(names)]
      .map((name) => ({ name, sort: refSort(name) }))
      .toSorted((a, b) => compareText(a.sort, b.sort));
    const width =
      requested.length <= MAX_SINGLE_LOOKUPS ? 1 : Math.ceil(requested.length / LOOKUP_CONCURRENCY);
    const slices: (typeof requested)[] = [];
    for (let i = 0; i < requested.length; i += width) slices.push(requested.slice(i, i + width));
    await Promise.all(
      slices.map(async (slice) => {
        for (let i = 0; i < slice.length; ) {
          const run = await this.#runAt(slice[i]!.sort);
          const until = run === undefined ? await this.#firstKey() : run.next;
          const refs = new Map(run?.refs.map((ref) => [ref.name, ref]));
          do {
            const ref = refs.get(slice[i]!.name);
            if (ref !== undefined) found.set(ref.name, ref);
            i++;
          } while (i < slice.length && (until === undefined || compareText(slice[i]!.sort, until) < 0));
        }
      }),
    );
    return found;
  }

  /**
   * Yields refs with a prefix, sorted by key, a run at a time.
   * @param options.from smallest key; default: that of the prefix
   * @param options.few the caller will probably stop early
   */
  async *walk(
    prefix: string,
    options: { readonly from?: string | undefined; readonly few?: boolean } = {},
  ): AsyncGenerator<readonly Ref[], void, undefined> {
    if (this.#empty) return;
    const start = refPrefixSort(prefix);
    const from = options.from !== undefined && compareText(options.from, start) > 0 ? options.from : start;
    const to = `${start}${LAST}`;
    const all = prefix === '' && from === REF;
    const within = (ref: Ref) =>
      ref.name.startsWith(prefix) && (from === start || compareText(refSort(ref.name), from) >= 0);
    const shown = ({ refs }: RefRun) => (all ? refs : refs.filter(within));
    const runs = this.#cache.of(this.#partition);
    let held = runs.from(from);
    let expected: string | undefined;
    while (held !== undefined) {
      yield shown(held);
      if (held.next === undefined || compareText(held.next, to) > 0) return;
      expected = held.next;
      held = runs.get(expected);
    }
    yield* this.#read(
      { from: expected ?? from, to, follows: expected !== undefined },
      options.few === true,
      shown,
    );
  }

  /** @param range.follows whether a run begins with the key `from`: its predecessor was in memory */
  async *#read(
    { from, to, follows }: { readonly from: string; readonly to: string; readonly follows: boolean },
    few: boolean,
    shown: (run: RefRun) => readonly Ref[],
  ): AsyncGenerator<readonly Ref[], void, undefined> {
    const range = { partition: this.#partition, from, to };
    const [before, first] = await Promise.all([
      from === REF || follows ? undefined : this.#runAt(from),
      this.#table.query(few ? { ...range, limit: follows ? FEW : 1 } : range),
    ]);
    // Each run holds the key of the next: this detects a table that is being deleted, long after it was replaced.
    let expected = follows ? from : undefined;
    const read = (run: RefRun): readonly Ref[] => {
      if (expected !== undefined && run.sort !== expected) throw gone();
      expected = run.next;
      return shown(run);
    };
    if (before === undefined && !follows)
      this.#cache.of(this.#partition).first ??= first.items[0]?.['sk'] as string | undefined;
    if (before !== undefined && before.sort !== first.items[0]?.['sk']) yield read(before);
    for (let page = first; ; ) {
      const { next } = page;
      const reading =
        next && !few ? this.#table.query({ ...range, startKey: next }).catch((error: Error) => error) : next;
      for (const item of page.items) yield read(this.#noted(item));
      if (next === undefined || reading === undefined) break;
      const answer = few ? await this.#table.query({ ...range, startKey: next, limit: FEW }) : await reading;
      if (answer instanceof Error) throw answer;
      page = answer as typeof first;
    }
    if (expected !== undefined && compareText(expected, to) <= 0) throw gone();
  }

  /** Returns the key and rank of the last run that begins at or before a rank among the branches or tags. */
  async positionOf(
    space: RefSpace,
    rank: number,
  ): Promise<{ readonly from: string; readonly rank: number } | undefined> {
    if (this.#empty) return undefined;
    const { items } = await this.#table.query({
      partition: this.#partition,
      from: refRankPrefix(space),
      to: refRankKey('', '', space, rank).sk,
      reverse: true,
      limit: 1,
    });
    const row = items[0];
    return row && { from: row['chunk'] as string, rank: rankOf(row['sk'] as string) };
  }

  /** The run whose range includes this key. */
  async #runAt(to: string): Promise<RefRun | undefined> {
    const runs = this.#cache.of(this.#partition);
    const held = runs.at(to);
    if (held !== undefined || (runs.first !== undefined && compareText(to, runs.first) < 0)) return held;
    const { items } = await this.#table.query({
      partition: this.#partition,
      from: REF,
      to,
      reverse: true,
      limit: 1,
    });
    return items[0] && this.#noted(items[0]);
  }

  /** Parses a row, once as long as it is kept in memory. */
  #noted(item: Item): RefRun {
    const sort = item['sk'] as string;
    const held = this.#cache.of(this.#partition).get(sort);
    if (held !== undefined) return held;
    const run = { sort, next: item['next'] as string | undefined, ...refsOf(item) };
    this.#cache.add(this.#partition, run);
    return run;
  }

  async #firstKey(): Promise<string | undefined> {
    const runs = this.#cache.of(this.#partition);
    if (runs.first !== undefined) return runs.first;
    const { items } = await this.#table.query({
      partition: this.#partition,
      from: REF,
      limit: 1,
      only: ['sk'],
    });
    runs.first = items[0]?.['sk'] as string | undefined;
    return runs.first;
  }
}

const gone = () => new StoreUnavailable(false, new Error('the ref table was replaced long ago'));

/** Whether lists of branches and tags include the ref: tags of objects other than commits are left out. */
export const isListed = (ref: Ref): boolean => {
  const space = spaceOf(ref.name);
  return space === 'heads' || (space === 'tags' && ref.committed !== null);
};

/** @param next the key of the run after it */
export const chunkRow = (
  repositoryId: string,
  tableId: string,
  refs: readonly Ref[],
  next: string | undefined,
): Item & { pk: string; sk: string } => ({
  ...refChunkKey(repositoryId, tableId, refs[0]!.name),
  refs: deflateRawSync(refs.map(lineOf).join('\n'), { level: 1 }),
  ...(next === undefined ? {} : { next }),
});

/** `<id>[^<peeled>][@<seconds> or @-] <name>` */
export function lineOf({ oid, peeled, committed, name }: Ref): string {
  const end = peeled === undefined ? '' : `^${peeled}`;
  const time = committed === undefined ? '' : `@${committed ?? '-'}`;
  return `${oid}${end}${time} ${name}`;
}

/** Memory of a ref besides its text: an object with two slices of that. */
const REF_BYTES = 150;

function refsOf(row: Item): Pick<RefRun, 'refs' | 'bytes'> {
  const text = inflateRawSync(row['refs'] as Uint8Array).toString();
  const refs = text.split('\n').map((line): Ref => {
    const space = line.indexOf(' ');
    const oid = line.slice(0, 40) as Oid;
    const name = line.slice(space + 1) as RefName;
    if (space === 40) return { name, oid };
    const peeled = line[40] === '^' ? (line.slice(41, 81) as Oid) : undefined;
    const at = peeled === undefined ? 40 : 81;
    const time = at < space ? line.slice(at + 1, space) : undefined;
    return {
      name,
      oid,
      ...(peeled === undefined ? {} : { peeled }),
      ...(time === undefined ? {} : { committed: time === '-' ? null : Number(time) }),
    };
  });
  return { refs, bytes: text.length + REF_BYTES * refs.length };
}

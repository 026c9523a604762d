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

  constructor(table: Table, repositoryId: string, tableId: string) {
    this.#table = table;
    this.#partition = refTablePartition(repositoryId, tableId);
    this.#empty = tableId === '';
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
          const chunk = await this.#chunkAt(slice[i]!.sort);
          const until = chunk === undefined ? await this.#firstKey() : chunk['next'];
          const refs = new Map(chunk && refsOf(chunk).map((ref) => [ref.name, ref]));
          do {
            const ref = refs.get(slice[i]!.name);
            if (ref !== undefined) found.set(ref.name, ref);
            i++;
          } while (
            i < slice.length &&
            (until === undefined || compareText(slice[i]!.sort, until as string) < 0)
          );
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
    const range = { partition: this.#partition, from, to: `${start}${LAST}` };
    const few = options.few === true;
    const [before, first] = await Promise.all([
      from === REF ? undefined : this.#chunkAt(from),
      this.#table.query(few ? { ...range, limit: 1 } : range),
    ]);
    const all = prefix === '' && from === REF;
    const within = (ref: Ref) =>
      ref.name.startsWith(prefix) && (from === start || compareText(refSort(ref.name), from) >= 0);
    // Each run holds the key of the next: this detects a table that is being deleted, long after it was replaced.
    let expected: string | undefined;
    const read = (item: Item): readonly Ref[] => {
      if (expected !== undefined && item['sk'] !== expected) throw gone();
      expected = item['next'] as string | undefined;
      return all ? refsOf(item) : refsOf(item).filter(within);
    };
    if (before !== undefined && before['sk'] !== first.items[0]?.['sk']) yield read(before);
    for (let page = first; ; ) {
      const { next } = page;
      const reading =
        next && !few ? this.#table.query({ ...range, startKey: next }).catch((error: Error) => error) : next;
      for (const item of page.items) yield read(item);
      if (next === undefined || reading === undefined) break;
      const answer = few ? await this.#table.query({ ...range, startKey: next, limit: FEW }) : await reading;
      if (answer instanceof Error) throw answer;
      page = answer as typeof first;
    }
    if (expected !== undefined && compareText(expected, range.to) <= 0) throw gone();
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

  /** The row whose run includes this key. */
  async #chunkAt(to: string): Promise<Item | undefined> {
    const { items } = await this.#table.query({
      partition: this.#partition,
      from: REF,
      to,
      reverse: true,
      limit: 1,
    });
    return items[0];
  }

  async #firstKey(): Promise<string | undefined> {
    const { items } = await this.#table.query({
      partition: this.#partition,
      from: REF,
      limit: 1,
      only: ['sk'],
    });
    return items[0]?.['sk'] as string | undefined;
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

function refsOf(row: Item): Ref[] {
  return inflateRawSync(row['refs'] as Uint8Array)
    .toString()
    .split('\n')
    .map((line) => {
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
}

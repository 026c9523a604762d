/**
 * An immutable sorted table of refs: its rows are written first, the guards name it afterwards. Each row holds a run
 * of refs under the first one's key, so a name is found with one small query, a prefix with one range, and the n-th
 * branch or tag with a row that says where it stands.
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

/** Names looked up each by themselves; more share what they read. */
const ALONE = 8;
const LOOKUPS_AT_ONCE = 8;
/** Runs read on by who wants a few refs only. */
const FEW = 4;

/** Behind every key that starts with what stands before it. */
const LAST = '\u{10ffff}';

/** A table that guards name, or named; the one called '' is empty. */
export class RefTable {
  readonly #table: Table;
  readonly #partition: string;
  readonly #empty: boolean;

  constructor(table: Table, repositoryId: string, tableId: string) {
    this.#table = table;
    this.#partition = refTablePartition(repositoryId, tableId);
    this.#empty = tableId === '';
  }

  /** @returns those of the names that are in the table. A few cost one round trip. */
  async named(names: readonly RefName[]): Promise<ReadonlyMap<RefName, Ref>> {
    const found = new Map<RefName, Ref>();
    if (this.#empty) return found;
    const wanted = [...new Set(names)]
      .map((name) => ({ name, sort: refSort(name) }))
      .toSorted((a, b) => compareText(a.sort, b.sort));
    const width = wanted.length <= ALONE ? 1 : Math.ceil(wanted.length / LOOKUPS_AT_ONCE);
    const slices: (typeof wanted)[] = [];
    for (let i = 0; i < wanted.length; i += width) slices.push(wanted.slice(i, i + width));
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
   * Refs under a prefix, in the order of their keys, a run at a time.
   * @param options.from the least key; the prefix's own when absent
   * @param options.few the caller will probably stop soon
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
    // Each run tells the key of the next one: a table that was replaced long ago may be taken away meanwhile.
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

  /** The key of a run that begins at that place among the branches or tags or before it, and its place. */
  async placeOf(
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

  /** The row in whose run this key falls. */
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

/** Whether lists of branches and tags have it: not a tag that leads to no commit. */
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

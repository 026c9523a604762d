/** Reads rows whose numbers lie close together by ranges, which cost by their bytes and not by their number. */
import { idOf, type Key } from '../row-keys/key.ts';
import type { Table } from './table.ts';
import type { Item } from './write.ts';

/** Of fewer rows a batch costs little more, and it reads those of all partitions in one request. */
const LEAST = 5;
/** Partitions read by ranges, at most. */
const PARTITIONS = 8;
/** Rows of a range that are wanted, at most: ranges are read side by side, what is in one a megabyte at a time. */
const IN_RANGE = 25;
/** Rows that a range may have for each that is wanted. */
const SPARSE = 2;

interface Range {
  readonly partition: string;
  readonly from: string;
  readonly to: string;
}

/**
 * Reads rows by their keys, which end in a number of twelve digits; strongly consistent.
 * @param only attributes that are returned
 * @returns the rows, in the order of the keys; undefined where there is none
 */
export async function getClose(
  table: Table,
  keys: readonly Key[],
  only: readonly string[],
): Promise<(Item | undefined)[]> {
  const { ranges, others } = rangesOf(keys);
  const wanted = new Set(keys.map(nameOf));
  const found = new Map<string, Item>();
  const keep = (item: Item) => {
    const name = nameOf(item as Item & Key);
    if (wanted.has(name)) found.set(name, item);
  };
  const batch = async () => {
    for (const item of await table.batchGet(others, { only })) if (item !== undefined) keep(item);
  };
  await Promise.all([
    ...ranges.map(async (range) => {
      const rows = table.queryAll({ ...range, only: [...new Set(['pk', 'sk', ...only])] });
      for await (const item of rows) keep(item);
    }),
    ...(others.length === 0 ? [] : [batch()]),
  ]);
  return keys.map((key) => found.get(nameOf(key)));
}

/** Which of the keys are read by ranges. */
function rangesOf(keys: readonly Key[]): {
  readonly ranges: readonly Range[];
  readonly others: readonly Key[];
} {
  const ranges: Range[] = [];
  const others: Key[] = [];
  for (const [partition, some] of Map.groupBy(keys, ({ pk }) => pk)) {
    const sorts = [...new Set(some.map(({ sk }) => sk))].sort();
    const few = sorts.length < LEAST || sorts.length * PARTITIONS < keys.length;
    for (let at = 0; at < sorts.length; at += IN_RANGE) {
      const part = sorts.slice(at, at + IN_RANGE);
      const [from, to] = [part[0]!, part.at(-1)!];
      if (few || idOf(to) - idOf(from) >= SPARSE * part.length)
        others.push(...part.map((sk) => ({ pk: partition, sk })));
      else ranges.push({ partition, from, to });
    }
  }
  return { ranges, others };
}

const nameOf = ({ pk, sk }: Key): string => `${pk}\n${sk}`;

import { createHash } from 'node:crypto';
import { compareNames } from '../pack/object-names.ts';
import { BITS_PER_PATH, HASH_VERSION as BLOOM_VERSION, HASHES } from './bloom.ts';
import type { CommitTable, Generations } from './commit-table.ts';
import * as format from './format.ts';

/** Filters by commit number: start and length in `bytes`. A length of 0 means that the filter is not computed yet. */
export interface Filters {
  readonly bytes: Uint8Array;
  readonly starts: Uint32Array;
  readonly lengths: Uint32Array;
}

/** Writes a commit-graph file of these commits, except those that the format cannot represent. */
export function writeCommitGraph(
  commits: CommitTable,
  { levels, corrected }: Generations,
  filters: Filters,
): Uint8Array {
  const order = sortedNumbers(commits, (number) => levels[number]! > 0);
  const count = order.length;
  const positions = new Uint32Array(commits.count);
  for (let i = 0; i < count; i++) positions[order[i]!] = i;

  const fanout = Buffer.alloc(1024);
  const names = Buffer.allocUnsafeSlow(20 * count);
  const data = Buffer.allocUnsafeSlow(format.COMMIT_ROW * count);
  const generations = Buffer.allocUnsafeSlow(4 * count);
  const overflow: number[] = [];
  const edges: number[] = [];
  const index = Buffer.allocUnsafeSlow(4 * count);
  let filterBytes = 0;
  for (let i = 0; i < count; i++) {
    const number = order[i]!;
    names.set(commits.names.subarray(20 * number, 20 * number + 20), 20 * i);
    const firstByte = names[20 * i]!;
    fanout.writeUInt32BE(i + 1, 4 * firstByte);

    const row = format.COMMIT_ROW * i;
    data.set(commits.trees.subarray(20 * number, 20 * number + 20), row);
    const parents = commits.parents(number);
    const place = (parent: number | undefined) =>
      parent === undefined ? format.NO_PARENT : positions[parent]!;
    data.writeUInt32BE(place(parents[0]), row + 20);
    data.writeUInt32BE(
      parents.length > 2 ? (format.TOP_BIT | edges.length) >>> 0 : place(parents[1]),
      row + 24,
    );
    if (parents.length > 2) {
      for (const parent of parents.slice(1)) edges.push(place(parent));
      edges.push((edges.pop()! | format.TOP_BIT) >>> 0);
    }
    const date = commits.dates[number]!;
    data.writeUInt32BE(((levels[number]! << 2) | Math.floor(date / 2 ** 32)) >>> 0, row + 28);
    data.writeUInt32BE(date % 2 ** 32, row + 32);

    const offset = corrected[number]! - date;
    if (offset >= format.TOP_BIT) {
      generations.writeUInt32BE((format.TOP_BIT | overflow.length) >>> 0, 4 * i);
      overflow.push(offset);
    } else generations.writeUInt32BE(offset, 4 * i);
    filterBytes += filters.lengths[number]!;
    index.writeUInt32BE(filterBytes, 4 * i);
  }
  for (let byte = 1; byte < 256; byte++) {
    const here = fanout.readUInt32BE(4 * byte);
    if (here === 0) fanout.writeUInt32BE(fanout.readUInt32BE(4 * byte - 4), 4 * byte);
  }

  const bloom = Buffer.allocUnsafeSlow(format.BLOOM_HEADER + filterBytes);
  bloom.writeUInt32BE(BLOOM_VERSION, 0);
  bloom.writeUInt32BE(HASHES, 4);
  bloom.writeUInt32BE(BITS_PER_PATH, 8);
  let at = format.BLOOM_HEADER;
  for (const number of order) {
    const start = filters.starts[number]!;
    bloom.set(filters.bytes.subarray(start, start + filters.lengths[number]!), at);
    at += filters.lengths[number]!;
  }
  return assembled([
    [format.FANOUT, fanout],
    [format.NAMES, names],
    [format.COMMITS, data],
    [format.GENERATIONS, generations],
    [format.GENERATION_OVERFLOW, longs(overflow)],
    [format.EDGES, words(edges)],
    [format.BLOOM_INDEX, index],
    [format.BLOOM_DATA, bloom],
  ]);
}

/** Numbers sorted by name: first into 65,536 buckets, so that few names are compared. */
function sortedNumbers(commits: CommitTable, wanted: (number: number) => boolean): Uint32Array {
  const { names } = commits;
  const bucket = (number: number) => names[20 * number]! * 256 + names[20 * number + 1]!;
  const ends = new Uint32Array(65537);
  for (let i = 0; i < commits.count; i++) if (wanted(i)) ends[bucket(i) + 1]!++;
  for (let i = 0; i < 65536; i++) ends[i + 1]! += ends[i]!;
  const order = new Uint32Array(ends[65536]!);
  const next = ends.slice(0, 65536);
  for (let i = 0; i < commits.count; i++) if (wanted(i)) order[next[bucket(i)]!++] = i;
  for (let i = 0; i < 65536; i++) {
    if (ends[i + 1]! - ends[i]! < 2) continue;
    order.subarray(ends[i], ends[i + 1]).sort((a, b) => compareNames(names, 20 * a, names, 20 * b));
  }
  return order;
}

function words(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [i, value] of values.entries()) bytes.writeUInt32BE(value, 4 * i);
  return bytes;
}

function longs(values: readonly number[]): Buffer {
  return words(values.flatMap((value) => [Math.floor(value / 2 ** 32), value % 2 ** 32]));
}

/** Header, table of chunks, all required or non-empty chunks, and the checksum. */
function assembled(all: readonly (readonly [id: number, bytes: Uint8Array])[]): Uint8Array {
  const optional = new Set([format.GENERATION_OVERFLOW, format.EDGES]);
  const chunks = all.filter(([id, { length }]) => length > 0 || !optional.has(id));
  const toc = Buffer.alloc(format.HEADER + format.TOC_ROW * (chunks.length + 1));
  toc.writeUInt32BE(format.SIGNATURE, 0);
  toc.set([format.VERSION, format.HASH_VERSION, chunks.length, 0], 4);
  let offset = toc.length;
  for (const [i, [id, { length }]] of chunks.entries()) {
    const at = format.HEADER + format.TOC_ROW * i;
    toc.writeUInt32BE(id, at);
    toc.writeBigUInt64BE(BigInt(offset), at + 4);
    offset += length;
  }
  toc.writeBigUInt64BE(BigInt(offset), toc.length - 8);
  const sha = createHash('sha1').update(toc);
  for (const [, bytes] of chunks) sha.update(bytes);
  return Buffer.concat([toc, ...chunks.map(([, bytes]) => bytes), sha.digest()]);
}

import { hash } from 'node:crypto';
import { sealDerived } from '../derived.ts';
import type { DerivedBuilder } from '../maintenance/derived-builder.ts';
import { loadIndexes } from '../maintenance/repack.ts';
import { nextTurn } from '../work.ts';
import {
  FANOUT,
  HEADER_SIZE,
  LARGE_OFFSETS,
  mergedPackName,
  NAMES,
  OFFSETS,
  ORDER,
  PACK_NAMES,
} from './merged-index.ts';
import { compareNames, sameName } from './object-names.ts';
import type { Pack } from './pack-cache.ts';

/** Builds the merged index of all listed packs without garbage. */
export const mergedIndexBuilder: DerivedBuilder = {
  kind: 'object-index',
  build: async ({ store }) => {
    const packs = (await store.packs()).filter(
      ({ description }) => description.source !== 'unreachable-garbage',
    );
    await loadIndexes(store, packs);
    return { content: sealDerived(await writeMergedIndex(packs)), note: '' };
  },
};

/**
 * Writes one index over several packs, in git's multi-pack-index format (gitformat-pack) with its reverse index: each
 * object once, in the largest pack if it has it, else in the first of the given packs that does.
 *
 * @param packs with their indexes in memory; takes about 80 bytes of memory per object
 */
export async function writeMergedIndex(packs: readonly Pack[]): Promise<Uint8Array> {
  const sorted = packs.toSorted((a, b) => (mergedPackName(a) < mergedPackName(b) ? -1 : 1));
  const largest = packs.reduce((most, pack) => (pack.index.count > most.index.count ? pack : most));
  const preferred = [largest, ...packs.filter((pack) => pack !== largest)];
  const rows = await mergeRows(preferred.map((pack) => ({ pack, number: sorted.indexOf(pack) })));
  const order = pseudoPackOrder(rows, sorted.indexOf(largest), sorted.length);

  const names = Buffer.from(sorted.map((pack) => `${mergedPackName(pack)}\0`).join(''), 'latin1');
  const chunks: [id: string, bytes: Uint8Array][] = [
    [PACK_NAMES, Buffer.concat([names, Buffer.alloc(-names.length & 3)])],
    [FANOUT, fanout(rows)],
    [NAMES, rows.names.subarray(0, 20 * rows.count)],
    ...offsetChunks(rows),
    [ORDER, bigEndian(order)],
  ];
  return assemble(chunks, sorted.length);
}

interface Rows {
  count: number;
  /** Sorted, 20 bytes each. */
  readonly names: Uint8Array;
  readonly packOf: Uint16Array;
  readonly offsets: Float64Array;
}

/** Merges by the first byte of the ids, yielding in between. For equal ids, takes the first pack. */
async function mergeRows(packs: readonly { readonly pack: Pack; readonly number: number }[]): Promise<Rows> {
  const total = packs.reduce((sum, { pack }) => sum + pack.index.count, 0);
  const rows: Rows = {
    count: 0,
    names: Buffer.alloc(20 * total),
    packOf: new Uint16Array(total),
    offsets: new Float64Array(total),
  };
  const at = packs.map(() => 0);
  for (let byte = 0; byte < 256; byte++) {
    for (;;) {
      let least = -1;
      for (let p = 0; p < packs.length; p++) {
        const { names, count } = packs[p]!.pack.index.whole();
        if (at[p]! >= count || names[20 * at[p]!] !== byte) continue;
        const best = least < 0 ? undefined : packs[least]!.pack.index.whole().names;
        if (best === undefined || compareNames(names, 20 * at[p]!, best, 20 * at[least]!) < 0) least = p;
      }
      if (least < 0) break;
      const { pack, number } = packs[least]!;
      const { names } = pack.index.whole();
      const row = rows.count;
      if (row === 0 || !sameName(rows.names, 20 * row - 20, names, 20 * at[least]!)) {
        for (let k = 0; k < 20; k++) rows.names[20 * row + k] = names[20 * at[least]! + k]!;
        rows.packOf[row] = number;
        rows.offsets[row] = pack.index.offset(at[least]!);
        rows.count++;
      }
      at[least]!++;
    }
    if ((byte & 7) === 7) await nextTurn();
  }
  return rows;
}

/**
 * The preferred pack's objects, then those of the other packs, by offset (gitformat-pack, "multi-pack-index reverse
 * indexes").
 */
function pseudoPackOrder({ count, packOf, offsets }: Rows, preferred: number, packs: number): Uint32Array {
  const order = new Uint32Array(count);
  const starts = new Uint32Array(packs + 1);
  for (let i = 0; i < count; i++) starts[packOf[i]! + 1]!++;
  const first = starts[preferred + 1]!;
  // Start of each pack's objects; those of the preferred pack start at 0.
  let next = first;
  for (let p = 0; p < packs; p++) {
    const its = starts[p + 1]!;
    starts[p] = p === preferred ? 0 : next;
    if (p !== preferred) next += its;
  }
  const ends = starts.slice(0, packs);
  for (let i = 0; i < count; i++) order[ends[packOf[i]!]!++] = i;
  for (let p = 0; p < packs; p++) {
    const part = order.subarray(starts[p]!, ends[p]!);
    const keys = new Float64Array(part.length);
    for (let i = 0; i < part.length; i++) keys[i] = offsets[part[i]!]!;
    const byOffset = new Map<number, number>();
    for (let i = 0; i < part.length; i++) byOffset.set(keys[i]!, part[i]!);
    keys.sort();
    for (let i = 0; i < part.length; i++) part[i] = byOffset.get(keys[i]!)!;
  }
  return order;
}

function fanout({ count, names }: Rows): Uint8Array {
  const counts = new Uint32Array(256);
  for (let i = 0; i < count; i++) counts[names[20 * i]!]!++;
  for (let byte = 1; byte < 256; byte++) counts[byte]! += counts[byte - 1]!;
  return bigEndian(counts);
}

function offsetChunks({ count, packOf, offsets }: Rows): [string, Uint8Array][] {
  // Only if some offset needs more than 32 bits, those of 32 bits go to the large-offset chunk, too.
  const far = offsets.subarray(0, count).some((offset) => offset >= 2 ** 32);
  const out = Buffer.alloc(8 * count);
  const large: bigint[] = [];
  for (let i = 0; i < count; i++) {
    const offset = offsets[i]!;
    out.writeUInt32BE(packOf[i]!, 8 * i);
    out.writeUInt32BE(far && offset >= 2 ** 31 ? 2 ** 31 + large.length : offset, 8 * i + 4);
    if (far && offset >= 2 ** 31) large.push(BigInt(offset));
  }
  if (!far) return [[OFFSETS, out]];
  const values = Buffer.alloc(8 * large.length);
  for (const [i, value] of large.entries()) values.writeBigUInt64BE(value, 8 * i);
  return [
    [OFFSETS, out],
    [LARGE_OFFSETS, values],
  ];
}

function bigEndian(values: Uint32Array): Uint8Array {
  const out = Buffer.from(values.buffer.slice(values.byteOffset, values.byteOffset + values.byteLength));
  return out.swap32();
}

function assemble(chunks: readonly [string, Uint8Array][], packs: number): Uint8Array {
  const headEnd = HEADER_SIZE + 12 * (chunks.length + 1);
  const end = chunks.reduce((sum, [, bytes]) => sum + bytes.length, headEnd);
  const out = Buffer.alloc(end + 20);
  out.write('MIDX', 0, 'latin1');
  out.set([1, 1, chunks.length, 0], 4);
  out.writeUInt32BE(packs, 8);
  let at = headEnd;
  for (const [i, [id, bytes]] of chunks.entries()) {
    out.write(id, HEADER_SIZE + 12 * i, 'latin1');
    out.writeBigUInt64BE(BigInt(at), HEADER_SIZE + 12 * i + 4);
    out.set(bytes, at);
    at += bytes.length;
  }
  out.writeBigUInt64BE(BigInt(end), headEnd - 8);
  out.set(hash('sha1', out.subarray(0, end), 'buffer'), end);
  return out;
}

import { hash } from 'node:crypto';
import { CorruptData } from '../corrupt-data.ts';
import { oidFromBytes } from '../oid.ts';
import { Effort, type Steps } from '../work.ts';
import type { EntryTable } from './entry-table.ts';
import { sameName } from './object-names.ts';

/**
 * Writes a version 2 index of the entries (gitformat-pack), as `git index-pack` does.
 * @param checksum the pack's trailer
 * @throws CorruptData when an object occurs twice
 */
export function* writeIndex(table: EntryTable, checksum: Uint8Array): Steps<Uint8Array> {
  const { count, names, offsets, crcs } = table;
  const effort = new Effort();
  const order = yield* table.sortedByName();
  let far = 0;
  for (let i = 0; i < count; i++) if (offsets[i]! >= 0x80000000) far++;
  const out = Buffer.alloc(8 + 1024 + 28 * count + 8 * far + 40);
  out.writeUInt32BE(0xff744f63, 0);
  out.writeUInt32BE(2, 4);
  const namesAt = 8 + 1024;
  const crcsAt = namesAt + 20 * count;
  const offsetsAt = crcsAt + 4 * count;
  let farAt = offsetsAt + 4 * count;
  let farCount = 0;
  const fanout = new Uint32Array(256);
  for (let i = 0; i < count; i++) {
    const entry = order[i]!;
    const from = 20 * entry;
    const to = namesAt + 20 * i;
    if (i > 0 && sameName(out, to - 20, names, from)) {
      throw new CorruptData('pack-entry', `object ${oidFromBytes(names, from)} occurs twice in the pack`);
    }
    for (let k = 0; k < 20; k++) out[to + k] = names[from + k]!;
    fanout[names[from]!]!++;
    out.writeUInt32BE(crcs[entry]!, crcsAt + 4 * i);
    const offset = offsets[entry]!;
    if (offset < 0x80000000) {
      out.writeUInt32BE(offset, offsetsAt + 4 * i);
    } else {
      out.writeUInt32BE(0x80000000 + farCount++, offsetsAt + 4 * i);
      out.writeBigUInt64BE(BigInt(offset), farAt);
      farAt += 8;
    }
    if (effort.spend(20)) yield;
  }
  let below = 0;
  for (let byte = 0; byte < 256; byte++) {
    below += fanout[byte]!;
    out.writeUInt32BE(below, 8 + 4 * byte);
  }
  out.set(checksum, farAt);
  out.set(hash('sha1', out.subarray(0, farAt + 20), 'buffer'), farAt + 20);
  return out;
}

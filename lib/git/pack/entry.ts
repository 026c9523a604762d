import { CorruptData } from '../corrupt-data.ts';
import type { ObjectType } from '../objects.ts';

/** Entry types of gitformat-pack, "pack-*.pack files have the following format". */
export const COMMIT = 1;
export const TREE = 2;
export const BLOB = 3;
export const TAG = 4;
export const OFS_DELTA = 6;
export const REF_DELTA = 7;

/** The longest entry header: a 10-byte size, then a 20-byte base id or a 10-byte base offset. */
export const MAX_ENTRY_HEADER = 32;

const NAMES: readonly (ObjectType | undefined)[] = [undefined, 'commit', 'tree', 'blob', 'tag'];
const CODES = { commit: COMMIT, tree: TREE, blob: BLOB, tag: TAG } as const;

export function typeName(code: number): ObjectType {
  const name = NAMES[code];
  if (name === undefined) throw new CorruptData('pack-entry', `entry type ${code} is not an object type`);
  return name;
}

export function typeCode(type: ObjectType): number {
  return CODES[type];
}

/** Reads entry headers into its own fields, so that nothing is allocated per entry. */
export class EntryHeader {
  type = 0;
  /** Inflated size: of the object, or of the delta. */
  size = 0;
  /** OFS_DELTA: how many bytes before this entry its base starts. */
  distance = 0;
  /** REF_DELTA: position of the base's id in the buffer. */
  baseAt = 0;
  /** Start of the zlib stream in the buffer. */
  dataAt = 0;

  /** @returns false when the buffer ends inside the header. @throws CorruptData */
  read(buffer: Uint8Array, at: number, end = buffer.length): boolean {
    if (at >= end) return false;
    let byte = buffer[at++]!;
    this.type = (byte >> 4) & 7;
    let size = byte & 15;
    let scale = 16;
    while (byte & 0x80) {
      if (at >= end) return false;
      byte = buffer[at++]!;
      size += (byte & 0x7f) * scale;
      if (size > Number.MAX_SAFE_INTEGER) throw new CorruptData('pack-entry', 'entry size out of range');
      scale *= 128;
    }
    this.size = size;
    if (this.type === OFS_DELTA) {
      if (at >= end) return false;
      byte = buffer[at++]!;
      let distance = byte & 0x7f;
      while (byte & 0x80) {
        if (at >= end) return false;
        byte = buffer[at++]!;
        distance = (distance + 1) * 128 + (byte & 0x7f);
        if (distance > Number.MAX_SAFE_INTEGER)
          throw new CorruptData('delta-base', 'base distance out of range');
      }
      if (distance === 0) throw new CorruptData('delta-base', 'delta is its own base');
      this.distance = distance;
    } else if (this.type === REF_DELTA) {
      if (at + 20 > end) return false;
      this.baseAt = at;
      at += 20;
    } else if (this.type === 0 || this.type === 5) {
      throw new CorruptData('pack-entry', `unknown entry type ${this.type}`);
    }
    this.dataAt = at;
    return true;
  }
}

/** Writes type and size at `at`. @returns the end of the header */
export function writeEntryHeader(out: Uint8Array, at: number, type: number, size: number): number {
  let rest = Math.floor(size / 16);
  let byte = (type << 4) | (size & 15);
  while (rest > 0) {
    out[at++] = byte | 0x80;
    byte = rest & 0x7f;
    rest = Math.floor(rest / 128);
  }
  out[at++] = byte;
  return at;
}

/** Writes an OFS_DELTA's base offset at `at`. @returns its end */
export function writeDistance(out: Uint8Array, at: number, distance: number): number {
  const groups = [distance % 128];
  let rest = Math.floor(distance / 128);
  while (rest > 0) {
    rest -= 1;
    groups.push(rest % 128);
    rest = Math.floor(rest / 128);
  }
  for (let i = groups.length - 1; i >= 0; i--) out[at++] = groups[i]! | (i > 0 ? 0x80 : 0);
  return at;
}

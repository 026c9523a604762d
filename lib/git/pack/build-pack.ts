import { createHash } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';
import type { ObjectType } from '../objects.ts';
import { type Oid, oidBytes } from '../oid.ts';
import { hashObject } from '../parse.ts';
import type { PackContent } from '../ports.ts';
import { typeCode, writeEntryHeader } from './entry.ts';
import { EntryTable } from './entry-table.ts';
import { writeIndex } from './write-index.ts';

export interface BuiltPack {
  readonly content: PackContent;
  readonly objectCount: number;
  /** In the order given, repeated objects too. */
  readonly oids: readonly Oid[];
}

/** Builds a small pack of new objects, without deltas, for an API commit. Writes repeated objects once. */
export function buildPack(
  objects: Iterable<{ readonly type: ObjectType; readonly data: Uint8Array; readonly oid?: Oid }>,
): BuiltPack {
  const table = new EntryTable();
  const oids: Oid[] = [];
  const seen = new Set<Oid>();
  const parts: Uint8Array[] = [];
  let size = 12;
  for (const { type, data, oid = hashObject(type, data) } of objects) {
    oids.push(oid);
    if (seen.has(oid)) continue;
    seen.add(oid);
    const head = Buffer.alloc(16);
    const headLength = writeEntryHeader(head, 0, typeCode(type), data.length);
    const bytes = Buffer.concat([head.subarray(0, headLength), deflateSync(data)]);
    const entry = table.add(size, typeCode(type), headLength, data.length);
    table.types[entry] = typeCode(type);
    table.crcs[entry] = crc32(bytes);
    table.names.set(oidBytes(oid), 20 * entry);
    parts.push(bytes);
    size += bytes.length;
  }
  const header = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1');
  header.writeUInt32BE(table.count, 8);
  const body = Buffer.concat([header, ...parts]);
  const checksum = createHash('sha1').update(body).digest();
  const pack = Buffer.concat([body, checksum]);
  return {
    content: { kind: 'bytes', pack, index: writeIndex(table, checksum) },
    objectCount: table.count,
    oids,
  };
}

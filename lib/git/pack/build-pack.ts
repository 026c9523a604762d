import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { crc32, deflate as deflateCallback, deflateSync } from 'node:zlib';
import type { ObjectType } from '../objects.ts';
import { type Oid, oidBytes } from '../oid.ts';
import { hashObject } from '../parse.ts';
import type { PackContent } from '../ports.ts';
import type { Steps } from '../work.ts';
import { typeCode, writeEntryHeader } from './entry.ts';
import { EntryTable } from './entry-table.ts';
import { writeIndex } from './write-index.ts';

export interface BuiltPack {
  readonly content: PackContent;
  readonly objectCount: number;
  /** In the order given, repeated objects too. */
  readonly oids: readonly Oid[];
}

/** An object of a pack. */
export interface Unpacked {
  readonly type: ObjectType;
  readonly data: Uint8Array;
  readonly oid?: Oid;
  /** `data` as a zlib stream, where it is known already. */
  readonly deflated?: Uint8Array;
}

const deflate = promisify(deflateCallback);
/** Bytes of an object from which it is deflated in another thread: a few milliseconds of work. */
const LARGE = 128 * 1024;
/** Bytes that are looked at between two stops. */
const PIECE = 4 * 1024 * 1024;

/** An object as a zlib stream; a large one is deflated in another thread. */
export const deflatedBeside = async (data: Uint8Array): Promise<Uint8Array> =>
  data.length < LARGE ? deflateSync(data) : deflate(data, { chunkSize: LARGE });

/** Deflates large objects, one after another, in another thread. */
export async function deflatedAhead<T extends Unpacked>(objects: readonly T[]): Promise<(T & Unpacked)[]> {
  const ahead: (T & Unpacked)[] = [];
  for (const object of objects)
    ahead.push(
      object.data.length < LARGE
        ? object
        : { ...object, deflated: await deflate(object.data, { chunkSize: LARGE }) },
    );
  return ahead;
}

/** Builds a small pack of new objects, without deltas, for an API commit. Writes repeated objects once. */
export function* buildPack(objects: Iterable<Unpacked>): Steps<BuiltPack> {
  const table = new EntryTable();
  const oids: Oid[] = [];
  const seen = new Set<Oid>();
  const header = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1');
  const parts: Uint8Array[] = [header];
  let size = header.length;
  for (const { type, data, oid = hashObject(type, data), deflated } of objects) {
    oids.push(oid);
    if (seen.has(oid)) continue;
    seen.add(oid);
    const room = Buffer.alloc(16);
    const headLength = writeEntryHeader(room, 0, typeCode(type), data.length);
    const head = room.subarray(0, headLength);
    const body = deflated ?? deflateSync(data);
    const entry = table.add(size, typeCode(type), headLength, data.length);
    table.types[entry] = typeCode(type);
    let crc = crc32(head);
    for (const piece of piecesOf(body)) {
      yield;
      crc = crc32(piece, crc);
    }
    table.crcs[entry] = crc;
    table.names.set(oidBytes(oid), 20 * entry);
    parts.push(head, body);
    size += head.length + body.length;
  }
  header.writeUInt32BE(table.count, 8);
  const sha = createHash('sha1');
  const pack = Buffer.allocUnsafeSlow(size + 20);
  let at = 0;
  for (const part of parts)
    for (const piece of piecesOf(part)) {
      yield;
      sha.update(piece);
      pack.set(piece, at);
      at += piece.length;
    }
  const checksum = sha.digest();
  pack.set(checksum, at);
  return {
    content: { kind: 'bytes', pack, index: yield* writeIndex(table, checksum) },
    objectCount: table.count,
    oids,
  };
}

function* piecesOf(bytes: Uint8Array): Iterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE) yield bytes.subarray(at, at + PIECE);
}

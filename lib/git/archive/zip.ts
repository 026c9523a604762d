import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { crc32, createDeflateRaw, deflateRaw as deflateRawCallback } from 'node:zlib';
import type { Oid } from '../oid.ts';
import { EXECUTABLE, SYMLINK } from '../tree/entry.ts';
import { type ArchiveEntry, isDirectory, type LargeContent } from './entries.ts';

const deflateRaw = promisify(deflateRawCallback);

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const END_64 = 0x06064b50;
const LOCATOR_64 = 0x07064b50;
const STORED = 0;
const DEFLATED = 8;
const DESCRIPTOR = 0x08074b50;
const UTF8_NAMES = 0x0800;
/** Checksum and sizes follow the content. */
const HAS_DESCRIPTOR = 0x0008;
/** Made on Unix, version 2.3: the upper half of the external attributes is a Unix mode. */
const MADE_BY_UNIX = 0x0317;
const MAX_16 = 0xffff;
const MAX_32 = 0xffffffff;
/** From here on a streamed member has sizes of 64 bits: where deflating does not help, it adds a megabyte. */
const FAR_BYTES = MAX_32 - 16 * 1024 * 1024;
/** Smaller content is not worth deflating. */
const MIN_DEFLATED_BYTES = 32;
/** A stored stream with a worse compression ratio is not reused: the content is deflated again. */
const MAX_REUSED_RATIO = 0.75;
/** Members deflated ahead of the writer, and their total bytes. */
const MEMBERS_AHEAD = 16;
const BYTES_AHEAD = 8 * 1024 * 1024;
const PIECE = 256 * 1024;

/**
 * Writes a zip archive (APPNOTE.TXT) with the members that `git archive --format=zip` writes, and the commit's id as
 * its comment. More than 65,535 entries or 4 GiB use the zip64 records. Names are the raw bytes of the tree.
 *
 * @param about.time seconds since 1970
 */
export async function* writeZip(
  entries: AsyncIterable<ArchiveEntry>,
  about: { readonly commit: Oid; readonly time: number },
): AsyncGenerator<Uint8Array> {
  const stamp = timeFields(about.time);
  const directory: Buffer[] = [];
  let collected: Buffer[] = [];
  let offset = 0;
  let count = 0;
  for await (const { entry, body } of deflateAhead(entries)) {
    const member = yield* write(entry, await body, stamp);
    collected.push(centralHeader(member, stamp, offset));
    if (collected.length === 1024) {
      directory.push(Buffer.concat(collected));
      collected = [];
    }
    offset += member.written;
    count++;
  }
  directory.push(...collected);
  let size = 0;
  for (const part of directory) {
    yield part;
    size += part.length;
  }
  yield endRecords({ count, size, offset }, about.commit);
}

interface Stamp {
  readonly dosTime: number;
  readonly dosDate: number;
  /** The "extended timestamp" extra field of Info-ZIP: seconds since 1970. */
  readonly extra: Buffer;
}

interface Member {
  readonly name: Buffer;
  readonly flags: number;
  readonly method: number;
  readonly crc: number;
  readonly size: number;
  /** Bytes of the content as stored in the archive. */
  readonly stored: number;
  readonly attributes: number;
  /** Whether the sizes have 64 bits. */
  readonly far: boolean;
}

interface Written extends Member {
  /** Bytes written for the member, local header included. */
  readonly written: number;
}

/** A member's content as stored in the archive. */
interface Body {
  readonly method: typeof STORED | typeof DEFLATED;
  readonly bytes: Uint8Array;
}

interface Deflating {
  readonly entry: ArchiveEntry;
  readonly body: Promise<Body>;
}

/** The entries in order, while following ones are deflated in other threads. */
async function* deflateAhead(entries: AsyncIterable<ArchiveEntry>): AsyncGenerator<Deflating> {
  const ahead: Deflating[] = [];
  let held = 0;
  const next = () => {
    const first = ahead.shift()!;
    held -= first.entry.data.length;
    return first;
  };
  for await (const entry of entries) {
    // The next entry may be requested only after a large one has been read.
    if (entry.large) while (ahead.length > 0) yield next();
    const body = deflated(entry);
    // Errors are thrown where the promise is awaited.
    body.catch(() => {});
    ahead.push({ entry, body });
    held += entry.data.length;
    while (entry.large || ahead.length > MEMBERS_AHEAD || held > BYTES_AHEAD) {
      if (ahead.length === 0) break;
      yield next();
    }
  }
  while (ahead.length > 0) yield next();
}

async function deflated({ mode, data, deflated: stored }: ArchiveEntry): Promise<Body> {
  if (mode === SYMLINK || data.length < MIN_DEFLATED_BYTES) return { method: STORED, bytes: data };
  if (stored !== undefined && stored.length < data.length * MAX_REUSED_RATIO)
    return { method: DEFLATED, bytes: stored };
  const bytes = await deflateRaw(data, { chunkSize: chunk(data) });
  return bytes.length < data.length ? { method: DEFLATED, bytes } : { method: STORED, bytes: data };
}

/** Writes a member. */
async function* write(
  entry: ArchiveEntry,
  { method, bytes }: Body,
  stamp: Stamp,
): AsyncGenerator<Uint8Array, Written> {
  const { path, mode, data, large } = entry;
  const directory = isDirectory(mode);
  const name = Buffer.from(directory ? `${path}/` : path, 'latin1');
  const ascii = !name.some((byte) => byte > 0x7e);
  const flags = !ascii && isUtf8(name) ? UTF8_NAMES : 0;
  const unix = directory ? 0o040755 : mode === SYMLINK ? 0o120777 : mode === EXECUTABLE ? 0o100755 : 0o100644;
  const attributes = ((unix << 16) | (directory ? 0x10 : 0)) >>> 0;
  if (large) return yield* writeLarge(large, { name, flags, attributes }, stamp);
  const facts = {
    name,
    flags,
    attributes,
    method,
    crc: crc32(data),
    size: data.length,
    stored: bytes.length,
    far: false,
  };
  const head = localHeader(facts, stamp);
  yield head;
  if (bytes.length > 0) yield bytes;
  return { ...facts, written: head.length + bytes.length };
}

/** Streams a large member. Checksum and sizes follow the content, in a data descriptor. */
async function* writeLarge(
  { size, content }: LargeContent,
  about: Pick<Member, 'name' | 'flags' | 'attributes'>,
  stamp: Stamp,
): AsyncGenerator<Uint8Array, Written> {
  const far = size >= FAR_BYTES;
  const begun = { ...about, flags: about.flags | HAS_DESCRIPTOR, method: DEFLATED, far };
  const head = localHeader({ ...begun, crc: 0, size: 0, stored: 0 }, stamp);
  yield head;
  let crc = 0;
  let stored = 0;
  async function* summed() {
    for await (const bytes of content) {
      crc = crc32(bytes, crc);
      yield bytes;
    }
  }
  const input = Readable.from(summed(), { objectMode: false });
  const output = createDeflateRaw({ chunkSize: PIECE });
  input.on('error', (error) => output.destroy(error));
  try {
    for await (const bytes of input.pipe(output) as AsyncIterable<Uint8Array>) {
      stored += bytes.length;
      yield bytes;
    }
  } finally {
    // A reader that leaves early ends the source too.
    input.destroy();
    output.destroy();
  }
  const descriptor = Buffer.alloc(far ? 24 : 16);
  descriptor.writeUInt32LE(DESCRIPTOR, 0);
  descriptor.writeUInt32LE(crc, 4);
  if (far) longs([stored, size]).copy(descriptor, 8);
  else {
    descriptor.writeUInt32LE(stored, 8);
    descriptor.writeUInt32LE(size, 12);
  }
  yield descriptor;
  return { ...begun, crc, size, stored, written: head.length + stored + descriptor.length };
}

const chunk = (data: Uint8Array) => Math.min(PIECE, Math.max(1024, data.length >> 1));

function localHeader(member: Member, stamp: Stamp): Buffer {
  const extra = Buffer.concat([stamp.extra, farField(sizesOf(member))]);
  const head = Buffer.alloc(30);
  head.writeUInt32LE(LOCAL, 0);
  common(head, 4, member, { ...stamp, extra });
  return Buffer.concat([head, member.name, extra]);
}

function centralHeader(member: Member, stamp: Stamp, offset: number): Buffer {
  const far = offset >= MAX_32;
  const extra = Buffer.concat([stamp.extra, farField([...sizesOf(member), ...(far ? [offset] : [])])]);
  const head = Buffer.alloc(46);
  head.writeUInt32LE(CENTRAL, 0);
  head.writeUInt16LE(MADE_BY_UNIX, 4);
  common(head, 6, member, { ...stamp, extra }, far || member.far ? 45 : 20);
  head.writeUInt32LE(member.attributes, 38);
  head.writeUInt32LE(far ? MAX_32 : offset, 42);
  return Buffer.concat([head, member.name, extra]);
}

/** The fields of both headers, from "version needed to extract" to "extra field length". */
function common(
  head: Buffer,
  at: number,
  member: Member,
  stamp: Stamp,
  version = member.far ? 45 : member.method === STORED && member.flags === 0 ? 10 : 20,
): void {
  head.writeUInt16LE(version, at);
  head.writeUInt16LE(member.flags, at + 2);
  head.writeUInt16LE(member.method, at + 4);
  head.writeUInt16LE(stamp.dosTime, at + 6);
  head.writeUInt16LE(stamp.dosDate, at + 8);
  head.writeUInt32LE(member.crc, at + 10);
  head.writeUInt32LE(member.far ? MAX_32 : member.stored, at + 14);
  head.writeUInt32LE(member.far ? MAX_32 : member.size, at + 18);
  head.writeUInt16LE(member.name.length, at + 22);
  head.writeUInt16LE(stamp.extra.length, at + 24);
}

const sizesOf = ({ far, size, stored }: Member): number[] => (far ? [size, stored] : []);

/** The zip64 extra field, with the numbers that the header's own fields cannot hold; empty for none. */
function farField(numbers: readonly number[]): Buffer {
  const values = longs(numbers);
  if (values.length === 0) return values;
  const head = Buffer.alloc(4);
  head.writeUInt16LE(1, 0);
  head.writeUInt16LE(values.length, 2);
  return Buffer.concat([head, values]);
}

function longs(numbers: readonly number[]): Buffer {
  const bytes = Buffer.alloc(8 * numbers.length);
  for (const [i, number] of numbers.entries()) bytes.writeBigUInt64LE(BigInt(number), 8 * i);
  return bytes;
}

function endRecords(
  { count, size, offset }: { count: number; size: number; offset: number },
  comment: string,
): Buffer {
  const parts: Buffer[] = [];
  if (count >= MAX_16 || size >= MAX_32 || offset >= MAX_32) {
    const end = Buffer.alloc(56 + 20);
    end.writeUInt32LE(END_64, 0);
    end.writeBigUInt64LE(44n, 4);
    end.writeUInt16LE((MADE_BY_UNIX & 0xff00) | 45, 12);
    end.writeUInt16LE(45, 14);
    end.writeBigUInt64LE(BigInt(count), 24);
    end.writeBigUInt64LE(BigInt(count), 32);
    end.writeBigUInt64LE(BigInt(size), 40);
    end.writeBigUInt64LE(BigInt(offset), 48);
    end.writeUInt32LE(LOCATOR_64, 56);
    end.writeBigUInt64LE(BigInt(offset + size), 64);
    end.writeUInt32LE(1, 72);
    parts.push(end);
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(END, 0);
  end.writeUInt16LE(Math.min(count, MAX_16), 8);
  end.writeUInt16LE(Math.min(count, MAX_16), 10);
  end.writeUInt32LE(Math.min(size, MAX_32), 12);
  end.writeUInt32LE(Math.min(offset, MAX_32), 16);
  end.writeUInt16LE(comment.length, 20);
  return Buffer.concat([...parts, end, Buffer.from(comment, 'latin1')]);
}

/**
 * The format's own times are local, in steps of two seconds, from 1980 to 2107: written in UTC. The extra field has
 * the exact time.
 */
function timeFields(seconds: number): Stamp {
  const kept = Math.min(Math.max(seconds, 315_532_800), 4_354_819_198);
  const at = new Date(kept * 1000);
  const extra = Buffer.alloc(9);
  extra.writeUInt16LE(0x5455, 0);
  extra.writeUInt16LE(5, 2);
  extra.writeUInt8(1, 4);
  extra.writeUInt32LE(Math.min(Math.max(0, seconds), MAX_32), 5);
  return {
    dosTime: (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1),
    dosDate: ((at.getUTCFullYear() - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate(),
    extra,
  };
}

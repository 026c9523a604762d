/**
 * Reads one file of a zip archive (PKWARE, "APPNOTE.TXT"; zip64 too) that lies elsewhere: its end, which has the directory of
 * small archives too, the directory, and the file. Archives are what users send: nothing that they say is believed without
 * a bound, and names lead nowhere, because they are only compared.
 */

import { pipeline, Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { crc32, createInflateRaw } from 'node:zlib';
import { asBuffer } from '../../bytes/as-buffer.ts';

export interface ZipSource {
  /** Bytes. */
  readonly size: number;
  read(offset: number, length: number): Promise<Uint8Array>;
  /** At most `length` bytes from `offset`, as they come. */
  stream(offset: number, length: number): Promise<AsyncIterable<Uint8Array>>;
}

export interface ZipEntry {
  readonly compressed: boolean;
  readonly compressedSize: number;
  readonly size: number;
  readonly crc: number;
  /** Where its local header begins. */
  readonly offset: number;
  /** Bytes of its name. */
  readonly nameLength: number;
}

/** An archive that cannot be read, or says what is not so. */
export class BadZip extends Error {
  override readonly name = 'BadZip';
}

/** Bytes read from the end: a comment has 65,535 at most. */
const TAIL = 256 * 1024;
/** Bytes of a directory: some 300,000 files. */
const MAX_DIRECTORY = 32 * 1024 * 1024;
const END = 0x06054b50;
const END_BYTES = 22;
const END64_LOCATOR = 0x07064b50;
const LOCATOR_BYTES = 20;
const END64 = 0x06064b50;
const END64_BYTES = 56;
const DIRECTORY_ENTRY = 0x02014b50;
const ENTRY_BYTES = 46;
const LOCAL_HEADER = 0x04034b50;
const LOCAL_BYTES = 30;
const MAX_EXTRA = 0xffff;
const ZIP64_EXTRA = 1;
const STORED = 0;
const DEFLATED = 8;
const ENCRYPTED = 1;
const LINK = 0o120000;
const KIND_OF_FILE = 0o170000;
/** Entries that are looked at between two turns of the event loop: about a millisecond. */
const LOOKED_AT_TOGETHER = 5_000;

/**
 * Finds a file: of several of its name the last one, as programs that unpack do.
 * @returns undefined where there is none, or where it is a link, encrypted, or packed in another way than by deflating
 * @throws BadZip
 */
export async function findEntry(source: ZipSource, path: string): Promise<ZipEntry | undefined> {
  const directory = await directoryOf(source);
  const wanted = Buffer.from(path, 'utf8');
  let found: number | undefined;
  let at = 0;
  for (let n = 1; at + ENTRY_BYTES <= directory.length; n++) {
    if (directory.readUInt32LE(at) !== DIRECTORY_ENTRY)
      throw new BadZip('no entry where the directory has one');
    const nameLength = directory.readUInt16LE(at + 28);
    const next =
      at + ENTRY_BYTES + nameLength + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
    if (next > directory.length) throw new BadZip('an entry beyond the directory');
    const name = at + ENTRY_BYTES;
    if (
      nameLength === wanted.length &&
      directory.compare(wanted, 0, nameLength, name, name + nameLength) === 0
    )
      found = at;
    at = next;
    if (n % LOOKED_AT_TOGETHER === 0) await turn();
  }
  if (at !== directory.length) throw new BadZip('the directory ends within an entry');
  return found === undefined ? undefined : entryAt(directory, found, source.size);
}

/** Reads the directory of all files. */
async function directoryOf({ size, read }: ZipSource): Promise<Buffer> {
  const begin = Math.max(0, size - TAIL);
  const tail = asBuffer(await read(begin, size - begin));
  const end = endOf(tail);
  let length = tail.readUInt32LE(end + 12);
  let offset = tail.readUInt32LE(end + 16);
  const locator = end - LOCATOR_BYTES;
  if (locator >= 0 && tail.readUInt32LE(locator) === END64_LOCATOR) {
    // It stands before its locator: what says that it is elsewhere costs no read.
    const end64 = numberOf(tail, locator + 8) - begin;
    if (end64 < 0 || end64 + END64_BYTES > locator || tail.readUInt32LE(end64) !== END64)
      throw new BadZip('no zip64 end');
    length = numberOf(tail, end64 + 40);
    offset = numberOf(tail, end64 + 48);
  }
  if (length > MAX_DIRECTORY) throw new BadZip('the directory is too large');
  if (offset + length > begin + end) throw new BadZip('the directory is not in the archive');
  if (offset >= begin) return tail.subarray(offset - begin, offset - begin + length);
  const directory = asBuffer(await read(offset, length));
  if (directory.length !== length) throw new BadZip('the directory is cut off');
  return directory;
}

/** Where the record at the end of the archive begins: its comment ends with the archive. */
function endOf(tail: Buffer): number {
  for (let at = tail.length - END_BYTES; at >= 0 && at >= tail.length - END_BYTES - MAX_EXTRA; at--)
    if (tail.readUInt32LE(at) === END && at + END_BYTES + tail.readUInt16LE(at + 20) === tail.length)
      return at;
  throw new BadZip('no end of a directory');
}

function entryAt(directory: Buffer, at: number, archiveSize: number): ZipEntry | undefined {
  const flags = directory.readUInt16LE(at + 8);
  const method = directory.readUInt16LE(at + 10);
  const nameLength = directory.readUInt16LE(at + 28);
  const fromUnix = directory[at + 5] === 3;
  const mode = directory.readUInt32LE(at + 38) >>> 16;
  if ((flags & ENCRYPTED) !== 0 || (method !== STORED && method !== DEFLATED)) return undefined;
  if (fromUnix && (mode & KIND_OF_FILE) === LINK) return undefined;
  const extra = at + ENTRY_BYTES + nameLength;
  const large = zip64Of(directory.subarray(extra, extra + directory.readUInt16LE(at + 30)));
  const either = (small: number) => (small === 0xffffffff ? (large.shift() ?? small) : small);
  // In the order of the extra field.
  const size = either(directory.readUInt32LE(at + 24));
  const compressedSize = either(directory.readUInt32LE(at + 20));
  const offset = either(directory.readUInt32LE(at + 42));
  if (offset + LOCAL_BYTES + compressedSize > archiveSize) throw new BadZip('a file beyond the archive');
  if (method === STORED && size !== compressedSize) throw new BadZip('two sizes of a stored file');
  return {
    compressed: method === DEFLATED,
    compressedSize,
    size,
    crc: directory.readUInt32LE(at + 16),
    offset,
    nameLength,
  };
}

/** The numbers of the zip64 field among the extra fields. */
function zip64Of(extra: Buffer): number[] {
  for (let at = 0; at + 4 <= extra.length; ) {
    const length = extra.readUInt16LE(at + 2);
    if (extra.readUInt16LE(at) === ZIP64_EXTRA) {
      const numbers: number[] = [];
      const end = Math.min(extra.length, at + 4 + length);
      for (let place = at + 4; place + 8 <= end; place += 8) numbers.push(numberOf(extra, place));
      return numbers;
    }
    at += 4 + length;
  }
  return [];
}

/**
 * Yields the content of a file.
 * @throws BadZip where it is not what the directory says: behind the last piece that was as long as promised
 */
export async function* contentOf(source: ZipSource, entry: ZipEntry): AsyncGenerator<Uint8Array> {
  let size = 0;
  let crc = 0;
  for await (const piece of entry.compressed ? inflated(source, entry) : packedOf(source, entry)) {
    size += piece.length;
    if (size > entry.size) throw new BadZip('the file is longer than it says');
    crc = crc32(piece, crc);
    yield piece;
  }
  if (size !== entry.size) throw new BadZip('the file is shorter than it says');
  if (crc !== entry.crc) throw new BadZip('the file is damaged');
}

async function* inflated(source: ZipSource, entry: ZipEntry): AsyncGenerator<Uint8Array> {
  const packed = Readable.from(packedOf(source, entry), { objectMode: false });
  // Whoever reads is told.
  const content = pipeline(packed, createInflateRaw(), () => {});
  try {
    for await (const piece of content) yield piece as Uint8Array;
  } catch (error) {
    const { code } = error as { code?: string };
    throw code?.startsWith('Z_') ? new BadZip('the file cannot be inflated') : error;
  }
}

/** The bytes of a file as they are in the archive: with its header, whose length only it says, in one read. */
async function* packedOf(source: ZipSource, entry: ZipEntry): AsyncGenerator<Uint8Array> {
  const { offset, compressedSize, nameLength } = entry;
  const most = LOCAL_BYTES + nameLength + MAX_EXTRA + compressedSize;
  let header: Buffer | undefined = Buffer.alloc(0);
  let skip = 0;
  let left = compressedSize;
  for await (const bytes of await source.stream(offset, Math.min(most, source.size - offset))) {
    let piece = asBuffer(bytes);
    if (header !== undefined) {
      piece = Buffer.concat([header, piece]);
      if (piece.length < LOCAL_BYTES) {
        header = piece;
        continue;
      }
      if (piece.readUInt32LE(0) !== LOCAL_HEADER) throw new BadZip('no file where the directory has one');
      skip = LOCAL_BYTES + piece.readUInt16LE(26) + piece.readUInt16LE(28);
      header = undefined;
    }
    const skipped = Math.min(skip, piece.length);
    skip -= skipped;
    piece = piece.subarray(skipped, skipped + left);
    left -= piece.length;
    if (piece.length > 0) yield piece;
    if (skip === 0 && left === 0) return;
  }
  if (left > 0 || header !== undefined) throw new BadZip('the file is cut off');
}

function numberOf(bytes: Buffer, at: number): number {
  const number = bytes.readBigUInt64LE(at);
  if (number > BigInt(Number.MAX_SAFE_INTEGER)) throw new BadZip('a number that no file has');
  return Number(number);
}

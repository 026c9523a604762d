import type { Oid } from '../oid.ts';
import { EXECUTABLE, SYMLINK } from '../tree/entry.ts';
import { type ArchiveEntry, contentSize, isDirectory } from './entries.ts';

const BLOCK = 512;
/** Archives are padded to a multiple of this: the default record size of POSIX `pax`. */
const RECORD = 20 * BLOCK;
const MAX_NAME = 100;
/** One less than the field can hold, as in git. */
const MAX_PREFIX = 154;
/** Eleven octal digits. */
const MAX_TIME = 0o77777777777;

/**
 * Writes a tape archive in the POSIX pax interchange format (IEEE Std 1003.1, "pax"), byte for byte as `git archive
 * --format=tar` does: the commit's id as comment of a global header, modes with umask 002, everything owned by root.
 *
 * @param about.time seconds since 1970
 */
export async function* writeTar(
  entries: AsyncIterable<ArchiveEntry>,
  about: { readonly commit: Oid; readonly time: number },
): AsyncGenerator<Uint8Array> {
  const time = Math.min(Math.max(0, about.time), MAX_TIME);
  let written = 0;
  const counted = (bytes: Buffer): Buffer => {
    written += bytes.length;
    return bytes;
  };
  yield counted(globalHeader(about.commit, time));
  for await (const entry of entries) {
    yield counted(entryHeader(entry, time));
    const size = contentSize(entry);
    if (size === 0 || entry.mode === SYMLINK) continue;
    if (entry.large) yield* entry.large.content;
    else yield entry.data;
    written += size;
    if (size % BLOCK > 0) yield counted(Buffer.alloc(BLOCK - (size % BLOCK)));
  }
  yield Buffer.alloc(endOf(written));
}

/** A file of known size, or a directory, whose path ends with a slash. */
export interface TarFile {
  /** At most 100 bytes. */
  readonly path: string;
  /** Less than 8 GiB. */
  readonly size: number;
  readonly content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/** Writes a tape archive of files. @param time seconds since 1970 */
export async function* tarOfFiles(files: AsyncIterable<TarFile>, time: number): AsyncGenerator<Uint8Array> {
  let written = 0;
  for await (const { path, size, content } of files) {
    const directory = path.endsWith('/');
    yield header({ name: path, mode: directory ? 0o755 : 0o644, size, time, type: directory ? '5' : '0' });
    yield* content;
    const open = (BLOCK - (size % BLOCK)) % BLOCK;
    if (open > 0) yield Buffer.alloc(open);
    written += BLOCK + size + open;
  }
  yield Buffer.alloc(endOf(written));
}

/** Bytes at the end of an archive: two empty blocks at least. */
function endOf(written: number): number {
  const open = RECORD - (written % RECORD);
  return open < 2 * BLOCK ? open + RECORD : open;
}

function globalHeader(commit: Oid, time: number): Buffer {
  const record = paxRecord('comment', commit);
  const head = header({ name: 'pax_global_header', mode: 0o666, size: record.length, time, type: 'g' });
  return Buffer.concat([head, padded(record)]);
}

function entryHeader(entry: ArchiveEntry, time: number): Buffer {
  const { path, mode, oid, data } = entry;
  const directory = isDirectory(mode);
  const name = directory ? `${path}/` : path;
  const link = mode === SYMLINK ? Buffer.from(data).toString('latin1') : '';
  const placed = split(name);
  const records = [
    ...(placed ? [] : [paxRecord('path', name)]),
    ...(link.length > MAX_NAME ? [paxRecord('linkpath', link)] : []),
  ];
  const own = header({
    ...(placed ?? { name: `${oid}.data` }),
    mode: mode === SYMLINK ? 0o777 : directory || mode === EXECUTABLE ? 0o775 : 0o664,
    size: mode === SYMLINK ? 0 : contentSize(entry),
    time,
    type: mode === SYMLINK ? '2' : directory ? '5' : '0',
    link: link.length > MAX_NAME ? `see ${oid}.paxheader` : link,
  });
  if (records.length === 0) return own;
  const extended = Buffer.concat(records);
  const about = { name: `${oid}.paxheader`, mode: 0o666, size: extended.length, time, type: 'x' };
  return Buffer.concat([header(about), padded(extended), own]);
}

/** Splits a path into the header's name and prefix fields; undefined when it does not fit. */
function split(path: string): { name: string; prefix?: string } | undefined {
  if (path.length <= MAX_NAME) return { name: path };
  // The last slash before which the prefix fits; not the one at the end of a directory's name.
  const at = path.lastIndexOf('/', Math.min(MAX_PREFIX, path.length - 2));
  if (at <= 0 || path.length - at - 1 > MAX_NAME) return undefined;
  return { prefix: path.slice(0, at), name: path.slice(at + 1) };
}

/** `<length> key=value\n`, where the length counts its own digits. */
function paxRecord(key: string, value: string): Buffer {
  const rest = ` ${key}=${value}\n`;
  let length = rest.length + 1;
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length;
  return Buffer.from(length + rest, 'latin1');
}

interface Header {
  readonly name: string;
  readonly prefix?: string;
  readonly mode: number;
  readonly size: number;
  readonly time: number;
  readonly type: string;
  readonly link?: string;
}

function header({ name, prefix = '', mode, size, time, type, link = '' }: Header): Buffer {
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, digits: number, at: number) =>
    block.write(value.toString(8).padStart(digits, '0'), at, 'latin1');
  block.write(name, 0, 'latin1');
  octal(mode, 7, 100);
  octal(0, 7, 108);
  octal(0, 7, 116);
  octal(size, 11, 124);
  octal(time, 11, 136);
  block.fill(' ', 148, 156);
  block.write(type, 156, 'latin1');
  block.write(link, 157, 'latin1');
  block.write('ustar\u000000', 257, 'latin1');
  block.write('root', 265, 'latin1');
  block.write('root', 297, 'latin1');
  octal(0, 7, 329);
  octal(0, 7, 337);
  block.write(prefix, 345, 'latin1');
  let sum = 0;
  for (const byte of block) sum += byte;
  block.write(`${sum.toString(8).padStart(7, '0')}\0`, 148, 'latin1');
  return block;
}

function padded(data: Buffer): Buffer {
  const rest = data.length % BLOCK;
  return rest === 0 ? data : Buffer.concat([data, Buffer.alloc(BLOCK - rest)]);
}

import { isUtf8 } from 'node:buffer';
import { type BinaryLike, createHash, hash } from 'node:crypto';
import { asBuffer } from '../bytes/as-buffer.ts';
import { CorruptData } from './corrupt-data.ts';
import type { ObjectType } from './objects.ts';
import { type Oid, oidFromBytes, parseOid } from './oid.ts';
import type { Steps } from './work.ts';

/** Who and when, from an `author`, `committer` or `tagger` line. */
export interface Identity {
  readonly name: string;
  readonly email: string;
  /** Seconds since 1970; 0 when the line holds no readable time. */
  readonly seconds: number;
  /** As written: `+0200`. */
  readonly timezone: string;
}

export interface Commit {
  readonly tree: Oid;
  readonly parents: readonly Oid[];
  readonly author: Identity;
  readonly committer: Identity;
  /** The `encoding` header, when there is one. */
  readonly encoding?: string;
  /** Other headers after `committer`, in order (`gpgsig`, `mergetag`, ...), continuation lines joined by \n. */
  readonly extra: readonly Header[];
  /** Decoded from `encoding`, else UTF-8, else Latin-1. The bytes stay in `messageBytes`. */
  readonly message: string;
  readonly messageBytes: Uint8Array;
}

export interface Header {
  readonly name: string;
  readonly value: string;
}

export interface Tag {
  readonly object: Oid;
  readonly type: ObjectType;
  readonly name: string;
  /** Absent in tags older than git 0.99.1. */
  readonly tagger?: Identity;
  readonly extra: readonly Header[];
  /** The message, with the signature that may follow it. */
  readonly message: string;
  readonly messageBytes: Uint8Array;
}

export interface TreeEntry {
  /** Octal file mode as a number: 0o100644, 0o040000, 0o120000, 0o160000. */
  readonly mode: number;
  /** Decoded as UTF-8, else Latin-1; only `nameBytes` is exact. */
  readonly name: string;
  readonly nameBytes: Uint8Array;
  readonly oid: Oid;
}

/** The parts of a commit that a history walk needs; no text is decoded. */
export interface CommitLinks {
  readonly tree: Oid;
  readonly parents: readonly Oid[];
  /** Seconds since 1970 of the committer; 0 when unreadable. */
  readonly committed: number;
}

/** @throws CorruptData when the bytes have no tree, or malformed parents, author or committer lines. */
export function parseCommit(data: Uint8Array): Commit {
  const { tree, parents, end } = parseLinks(data);
  const headers = splitHeaders(data, end);
  const encoding = headers.find((header) => header.name === 'encoding')?.value.toString('latin1');
  const author = headers.find((header) => header.name === 'author');
  const committer = headers.find((header) => header.name === 'committer');
  if (!author || !committer) throw malformed('commit without author or committer');
  const known = new Set(['tree', 'parent', 'author', 'committer', 'encoding']);
  const messageBytes = data.subarray(headers.end);
  return {
    tree,
    parents,
    author: parseIdentity(author.value, encoding),
    committer: parseIdentity(committer.value, encoding),
    ...(encoding === undefined ? {} : { encoding }),
    extra: headers
      .filter((header) => !known.has(header.name))
      .map((header) => ({ name: header.name, value: decodeText(header.value, encoding) })),
    message: decodeText(messageBytes, encoding),
    messageBytes,
  };
}

/** @throws CorruptData when the bytes are not a commit */
export function parseCommitLinks(data: Uint8Array): CommitLinks {
  const { tree, parents, end } = parseLinks(data);
  return { tree, parents, committed: committedAt(asBuffer(data), end) };
}

/** Tree and parents, and where the other headers begin. */
function parseLinks(data: Uint8Array): { tree: Oid; parents: Oid[]; end: number } {
  const buffer = asBuffer(data);
  const tree = hexHeader(buffer, 0, 'tree ');
  if (tree === undefined) throw malformed('commit without tree');
  let at = 46;
  const parents: Oid[] = [];
  for (;;) {
    const parent = hexHeader(buffer, at, 'parent ');
    if (parent === undefined) break;
    parents.push(parent);
    at += 48;
  }
  return { tree, parents, end: at };
}

/** @throws CorruptData */
export function parseTag(data: Uint8Array): Tag {
  const headers = splitHeaders(data);
  const first = (name: string) => headers.find((header) => header.name === name)?.value;
  const object = parseOid(first('object')?.toString('latin1') ?? '');
  const type = first('type')?.toString('latin1');
  const name = first('tag');
  if (!object || !isObjectType(type) || !name) throw malformed('tag without object, type or name');
  const tagger = first('tagger');
  const known = new Set(['object', 'type', 'tag', 'tagger']);
  const messageBytes = data.subarray(headers.end);
  return {
    object,
    type,
    name: decodeText(name),
    ...(tagger ? { tagger: parseIdentity(tagger) } : {}),
    extra: headers
      .filter((header) => !known.has(header.name))
      .map((header) => ({ name: header.name, value: decodeText(header.value) })),
    message: decodeText(messageBytes),
    messageBytes,
  };
}

/** @throws CorruptData */
export function parseTree(data: Uint8Array): TreeEntry[] {
  const entries: TreeEntry[] = [];
  const cursor = new TreeCursor(data);
  while (cursor.next()) {
    const nameBytes = data.subarray(cursor.nameStart, cursor.nameEnd);
    entries.push({
      mode: cursor.mode,
      name: decodeText(nameBytes),
      nameBytes,
      oid: oidFromBytes(data, cursor.oidStart),
    });
  }
  return entries;
}

/** Walks a tree's entries in place: nothing is allocated per entry. */
export class TreeCursor {
  readonly data: Uint8Array;
  mode = 0;
  nameStart = 0;
  nameEnd = 0;
  /** Where the entry's 20 id bytes begin. */
  oidStart = 0;
  #next = 0;

  constructor(data: Uint8Array) {
    this.data = data;
  }

  /** Moves to the next entry. @returns false at the end. @throws CorruptData */
  next(): boolean {
    const data = this.data;
    let at = this.#next;
    if (at >= data.length) return false;
    let mode = 0;
    const start = at;
    for (;;) {
      const byte = data[at++];
      if (byte === 0x20) break;
      if (byte === undefined || byte < 0x30 || byte > 0x37 || at - start > 7)
        throw malformed('tree entry mode');
      mode = (mode << 3) | (byte - 0x30);
    }
    this.nameStart = at;
    while (data[at] !== 0) {
      if (at >= data.length) throw malformed('tree entry without end of name');
      at++;
    }
    this.nameEnd = at;
    if (at + 21 > data.length) throw malformed('tree entry cut short');
    this.mode = mode;
    this.oidStart = at + 1;
    this.#next = at + 21;
    return true;
  }
}

/** A new commit, for {@link encodeCommit}. */
export interface CommitInput {
  readonly tree: Oid;
  readonly parents: readonly Oid[];
  readonly author: Identity;
  readonly committer: Identity;
  readonly encoding?: string;
  readonly extra?: readonly Header[];
  readonly message: string | Uint8Array;
}

export function encodeCommit(commit: CommitInput): Uint8Array {
  let head = `tree ${commit.tree}\n`;
  for (const parent of commit.parents) head += `parent ${parent}\n`;
  head += `author ${formatIdentity(commit.author)}\ncommitter ${formatIdentity(commit.committer)}\n`;
  if (commit.encoding !== undefined) head += `encoding ${commit.encoding}\n`;
  return joinMessage(head, commit.extra ?? [], commit.message);
}

export function encodeTag(tag: {
  readonly object: Oid;
  readonly type: ObjectType;
  readonly name: string;
  readonly tagger?: Identity;
  readonly extra?: readonly Header[];
  readonly message: string | Uint8Array;
}): Uint8Array {
  let head = `object ${tag.object}\ntype ${tag.type}\ntag ${tag.name}\n`;
  if (tag.tagger) head += `tagger ${formatIdentity(tag.tagger)}\n`;
  return joinMessage(head, tag.extra ?? [], tag.message);
}

/** Sorts as git does: bytewise, a directory as if its name ended in `/`. */
export function encodeTree(
  entries: Iterable<{ readonly mode: number; readonly name: string | Uint8Array; readonly oid: Oid }>,
): Uint8Array {
  const rows = Array.from(entries, (entry) => {
    const name = typeof entry.name === 'string' ? Buffer.from(entry.name) : asBuffer(entry.name);
    const directory = (entry.mode & 0o170000) === 0o040000;
    return { entry, name, key: directory ? Buffer.concat([name, Buffer.from('/')]) : name };
  });
  rows.sort((a, b) => Buffer.compare(a.key, b.key));
  return Buffer.concat(
    rows.flatMap(({ entry, name }) => [
      Buffer.from(`${entry.mode.toString(8)} `),
      name,
      Buffer.from([0]),
      Buffer.from(entry.oid, 'hex'),
    ]),
  );
}

/** The id git gives to this content. */
export function hashObject(type: ObjectType, data: Uint8Array): Oid {
  const head = Buffer.from(`${type} ${data.length}\0`, 'latin1');
  return hash('sha1', Buffer.concat([head, data]) as BinaryLike, 'hex') as Oid;
}

/** Bytes hashed between two stops. */
const HASHED_AT_ONCE = 4 * 1024 * 1024;

/** As {@link hashObject}, beside other work. */
export function* hashObjectInSteps(type: ObjectType, data: Uint8Array): Steps<Oid> {
  if (data.length <= HASHED_AT_ONCE) return hashObject(type, data);
  const sha = createHash('sha1').update(`${type} ${data.length}\0`);
  for (let at = 0; at < data.length; at += HASHED_AT_ONCE) {
    yield;
    sha.update(data.subarray(at, at + HASHED_AT_ONCE));
  }
  return sha.digest('hex') as Oid;
}

/** `Name <mail> 1700000000 +0200`, without characters that would break the line. */
function formatIdentity(identity: Identity): string {
  return `${cleanPart(identity.name)} <${cleanPart(identity.email)}> ${identity.seconds} ${identity.timezone}`;
}

/** Accepts what old tools wrote: a missing mail, time or zone gives '', 0 and `+0000`. */
export function parseIdentity(bytes: Uint8Array, encoding?: string): Identity {
  const line = asBuffer(bytes);
  const open = line.indexOf(0x3c);
  const close = line.lastIndexOf(0x3e);
  if (open < 0 || close < open) {
    return { name: decodeText(short(line), encoding).trim(), email: '', seconds: 0, timezone: '+0000' };
  }
  const when = /^ *(-?\d{1,15})(?: ([+-]\d{1,7}))?/.exec(line.toString('latin1', close + 1, close + 64));
  return {
    name: decodeText(short(line.subarray(0, open)), encoding).trim(),
    email: decodeText(short(line.subarray(open + 1, close)), encoding),
    seconds: when ? Number(when[1]) : 0,
    timezone: when?.[2] ?? '+0000',
  };
}

/** Bytes of a name or an address that are read: no real one is as long, and lists repeat them. */
const MAX_NAME_BYTES = 1024;

/** The start of a name, without half a character of UTF-8. */
function short(bytes: Buffer): Buffer {
  if (bytes.length <= MAX_NAME_BYTES) return bytes;
  let end = MAX_NAME_BYTES;
  while (end > MAX_NAME_BYTES - 4 && (bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end);
}

/** Text by its declared encoding, else UTF-8, else Latin-1: never fails. */
function decodeText(bytes: Uint8Array, encoding?: string): string {
  if (encoding !== undefined && !/^utf-?8$/i.test(encoding)) {
    try {
      return new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      // An unknown encoding, or bytes it cannot hold: treated as undeclared.
    }
  }
  return isUtf8(bytes) ? asBuffer(bytes).toString('utf8') : asBuffer(bytes).toString('latin1');
}

function isObjectType(text: string | undefined): text is ObjectType {
  return text === 'commit' || text === 'tree' || text === 'blob' || text === 'tag';
}

interface RawHeader {
  readonly name: string;
  readonly value: Buffer;
}

/** Splits header lines up to the blank line; `end` is where the message begins. */
function splitHeaders(data: Uint8Array, from = 0): RawHeader[] & { end: number } {
  const buffer = asBuffer(data);
  const headers: RawHeader[] = [];
  let at = from;
  while (at < buffer.length && buffer[at] !== 0x0a) {
    let end = lineEnd(buffer, at);
    const space = buffer.indexOf(0x20, at);
    const nameEnd = space < 0 || space > end ? end : space;
    const name = buffer.toString('latin1', at, nameEnd);
    const parts = [buffer.subarray(Math.min(nameEnd + 1, end), end)];
    while (buffer[end + 1] === 0x20) {
      const next = lineEnd(buffer, end + 1);
      parts.push(Buffer.from('\n'), buffer.subarray(end + 2, next));
      end = next;
    }
    headers.push({ name, value: parts.length === 1 ? parts[0]! : Buffer.concat(parts) });
    at = end + 1;
  }
  return Object.assign(headers, { end: Math.min(at + 1, buffer.length) });
}

function lineEnd(buffer: Buffer, from: number): number {
  const end = buffer.indexOf(0x0a, from);
  return end < 0 ? buffer.length : end;
}

function hexHeader(buffer: Buffer, at: number, label: string): Oid | undefined {
  for (let i = 0; i < label.length; i++) if (buffer[at + i] !== label.charCodeAt(i)) return undefined;
  const start = at + label.length;
  const oid = parseOid(buffer.toString('latin1', start, start + 40));
  if (oid === undefined || buffer[start + 40] !== 0x0a)
    throw malformed(`commit with a malformed ${label}line`);
  return oid;
}

/** The committer's seconds; `from` is where the parents end. */
function committedAt(buffer: Buffer, from: number): number {
  let at = from;
  while (at < buffer.length && buffer[at] !== 0x0a) {
    const end = lineEnd(buffer, at);
    if (buffer[at] === 0x63 && buffer.toString('latin1', at, at + 10) === 'committer ') {
      let digit = end - 1;
      while (digit > at && buffer[digit] !== 0x3e) digit--;
      digit++;
      while (buffer[digit] === 0x20) digit++;
      let seconds = 0;
      for (; digit < end && buffer[digit]! >= 0x30 && buffer[digit]! <= 0x39; digit++) {
        seconds = seconds * 10 + buffer[digit]! - 0x30;
      }
      return seconds <= Number.MAX_SAFE_INTEGER ? seconds : 0;
    }
    at = end + 1;
  }
  return 0;
}

function joinMessage(head: string, extra: readonly Header[], message: string | Uint8Array): Uint8Array {
  let text = head;
  for (const { name, value } of extra) text += `${name} ${value.replaceAll('\n', '\n ')}\n`;
  return Buffer.concat([
    Buffer.from(`${text}\n`),
    typeof message === 'string' ? Buffer.from(message) : message,
  ]);
}

/** git drops line ends, angle brackets and NUL inside an identity, and "crud" around it. */
function cleanPart(text: string): string {
  return text.replace(/[\u0000\n<>]/g, '').replace(/^[\s.,:;"\\']+|[\s.,:;"\\']+$/g, '');
}

function malformed(message: string): CorruptData {
  return new CorruptData('object-malformed', message);
}

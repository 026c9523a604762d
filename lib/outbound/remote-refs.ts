/** Parses the refs of an untrusted server (gitprotocol-pack, "Reference Discovery"; gitprotocol-v2, "ls-refs"). */

import { isUtf8 } from 'node:buffer';
import { asBuffer } from '../bytes/as-buffer.ts';
import { type Oid, parseOid, ZERO_OID } from '../git/oid.ts';
import { fitsFile, type RefName } from '../git/refname.ts';
import type { Pkt, PktReader } from '../git/wire/pkt-line.ts';
import { pushableName } from '../git/wire/push-update.ts';
import { GitRemoteError } from './git-remote-error.ts';

/** The branches and tags of a repository; other refs are not copied. */
export interface RemoteRefs {
  /** HEAD's target, if the server sends it. */
  readonly head: RefName | undefined;
  /** The object that HEAD points to. */
  readonly headOid: Oid | undefined;
  /** Only refs with valid UTF-8 names; others cannot be stored. */
  readonly refs: readonly RemoteRef[];
}

export interface RemoteRef {
  readonly name: RefName;
  readonly oid: Oid;
}

/** The first answer of a server. */
export interface Greeting {
  readonly version: 0 | 2;
  readonly capabilities: ReadonlySet<string>;
}

const MAX_CAPABILITIES = 1000;

/**
 * Reads the answer to `info/refs`. In versions 0 and 1 it contains the refs, which are added to `listing`.
 * @throws GitRemoteError, WireError
 */
export async function readGreeting(reader: PktReader, service: string, listing: Listing): Promise<Greeting> {
  let first = await reader.next();
  if (textOf(first) === `# service=${service}`) {
    if ((await reader.next()).kind !== 'flush') throw new GitRemoteError('protocol');
    first = await reader.next();
  }
  if (textOf(first) === 'version 1') first = await reader.next();
  const version = textOf(first) === 'version 2' ? 2 : 0;
  const capabilities =
    version === 2 ? await readCapabilities(reader) : await readAdvertisement(first, reader, listing);
  return { version, capabilities };
}

/** The answer to `ls-refs`. @throws GitRemoteError, WireError */
export async function readLsRefs(reader: PktReader, listing: Listing): Promise<void> {
  for (;;) {
    const line = await reader.next();
    if (line.kind === 'flush') return;
    if (line.kind !== 'data') throw new GitRemoteError('protocol');
    demandNoError(line);
    const [oid, rest] = cut(withoutNewline(line.data));
    const [name, attributes] = cut(rest);
    const target = /(?:^| )symref-target:([^ ]+)/.exec(attributes.toString('latin1'))?.[1];
    if (target !== undefined && name.toString('latin1') === 'HEAD')
      listing.pointHead(Buffer.from(target, 'latin1'));
    listing.add(oid, name);
  }
}

/** Collects the refs of a server that can be stored. */
export class Listing implements RemoteRefs {
  head: RefName | undefined;
  headOid: Oid | undefined;
  readonly refs: RemoteRef[] = [];
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  add(oidText: Buffer, nameBytes: Buffer): void {
    const oid = parseOid(oidText.toString('latin1'));
    // An unborn HEAD has no object; an empty repository of version 0 has a line of zeros.
    if (oidText.toString('latin1') === 'unborn' || oid === ZERO_OID) return;
    if (oid === undefined) throw new GitRemoteError('protocol');
    const text = nameBytes.toString('utf8');
    if (text === 'HEAD') this.headOid = oid;
    const name = isUtf8(nameBytes) ? storableName(text) : undefined;
    if (name === undefined) return;
    if (this.refs.length === this.#max) throw new GitRemoteError('too-many-refs');
    this.refs.push({ name, oid });
  }

  pointHead(target: Buffer): void {
    this.head ??= isUtf8(target) ? storableName(target.toString('utf8')) : undefined;
  }
}

function storableName(text: string): RefName | undefined {
  return /^refs\/(heads|tags)\//.test(text) && fitsFile(text) ? pushableName(text) : undefined;
}

/** @throws GitRemoteError when the server sent an ERR line */
export function demandNoError(line: Pkt): void {
  if (textOf(line)?.startsWith('ERR ') === true) throw new GitRemoteError('refused');
}

/** The text of a line without its newline; undefined for other packets. */
export const textOf = (line: Pkt): string | undefined =>
  line.kind === 'data' ? withoutNewline(line.data).toString('latin1') : undefined;

function withoutNewline(data: Uint8Array): Buffer {
  const bytes = asBuffer(data);
  return bytes.at(-1) === 0x0a ? bytes.subarray(0, -1) : bytes;
}

/** Splits at the first space. */
function cut(bytes: Buffer): [Buffer, Buffer] {
  const at = bytes.indexOf(0x20);
  return at < 0 ? [bytes, Buffer.alloc(0)] : [bytes.subarray(0, at), bytes.subarray(at + 1)];
}

/** Reads refs in the format of versions 0 and 1, with the capabilities after the first. */
async function readAdvertisement(first: Pkt, reader: PktReader, listing: Listing): Promise<Set<string>> {
  if (first.kind === 'flush') return new Set();
  if (first.kind !== 'data') throw new GitRemoteError('protocol');
  const zero = first.data.indexOf(0);
  const rest = zero < 0 ? '' : Buffer.from(first.data.subarray(zero + 1)).toString('latin1');
  const capabilities = new Set(rest.trim().split(' '));
  demandSha1(capabilities);
  const symref = [...capabilities].find((one) => one.startsWith('symref=HEAD:'));
  if (symref !== undefined) listing.pointHead(Buffer.from(symref.slice('symref=HEAD:'.length), 'latin1'));
  let line: Pkt = zero < 0 ? first : { kind: 'data', data: first.data.subarray(0, zero) };
  for (; line.kind === 'data'; line = await reader.next()) {
    demandNoError(line);
    const [oid, name] = cut(withoutNewline(line.data));
    if (oid.toString('latin1') !== 'shallow') listing.add(oid, name);
  }
  if (line.kind !== 'flush') throw new GitRemoteError('protocol');
  return capabilities;
}

async function readCapabilities(reader: PktReader): Promise<Set<string>> {
  const all = new Set<string>();
  for (;;) {
    const line = await reader.next();
    if (line.kind === 'flush') {
      demandSha1(all);
      return all;
    }
    const text = textOf(line);
    if (text === undefined || all.size === MAX_CAPABILITIES) throw new GitRemoteError('protocol');
    all.add(text);
  }
}

function demandSha1(all: ReadonlySet<string>): void {
  for (const one of all) {
    if (one.startsWith('object-format=') && one !== 'object-format=sha1')
      throw new GitRemoteError('object-format');
  }
}

/**
 * The client's side of a clone over smart HTTP (gitprotocol-http), versions 0 to 2 (gitprotocol-pack,
 * gitprotocol-v2). The pack streams through; nothing of it is kept or looked into here.
 */
import { isUtf8 } from 'node:buffer';
import { type Oid, parseOid, ZERO_OID } from '../git/oid.ts';
import type { RefName } from '../git/refname.ts';
import { WireError } from '../git/wire/error.ts';
import { DELIM, FLUSH, type Pkt, PktReader, pkt } from '../git/wire/pkt-line.ts';
import { pushableName } from '../git/wire/push-update.ts';
import type { DestinationPolicy } from './destination.ts';
import { OutboundError, type OutboundFailure } from './errors.ts';
import {
  type OutboundLimits,
  type OutboundRequest,
  type OutboundResponse,
  outboundRequest,
} from './request.ts';

export type GitRemoteFailure =
  | OutboundFailure
  /** it wants other credentials, or any */
  | 'unauthorized'
  | 'not-found'
  /** an answer of HTTP that is none of the above, or a fatal message of git's */
  | 'refused'
  /** there is something else at this address */
  | 'not-a-repository'
  /** it does not speak as the protocol says, or ended in the middle */
  | 'protocol'
  /** its objects have names of SHA-256 */
  | 'object-format'
  | 'too-many-refs';

export class GitRemoteError extends Error {
  readonly failure: GitRemoteFailure;
  constructor(failure: GitRemoteFailure, cause?: unknown) {
    super(failure, cause === undefined ? {} : { cause });
    this.name = 'GitRemoteError';
    this.failure = failure;
  }
}

export interface GitRemoteOptions {
  readonly policy: DestinationPolicy;
  /** Of HTTP Basic. */
  readonly credentials?: { readonly username: string; readonly password: string } | undefined;
  readonly signal?: AbortSignal;
  /** Of the pack. */
  readonly maxPackBytes: number;
  /** Branches and tags. Default 20,000, as many as one push may move. */
  readonly maxRefs?: number;
  readonly timing?: Pick<OutboundLimits, 'headMs' | 'idleMs'>;
}

/** The branches and tags of a repository; other refs are nobody's but its own. */
export interface RemoteRefs {
  /** What HEAD points to, where the server says so. */
  readonly head: RefName | undefined;
  /** The object HEAD stands for. */
  readonly headOid: Oid | undefined;
  /** Those whose names are UTF-8 and allowed by git: nothing else can be stored. */
  readonly refs: readonly RemoteRef[];
}

export interface RemoteRef {
  readonly name: RefName;
  readonly oid: Oid;
}

const MAX_LISTING_BYTES = 64 * 1024 * 1024;
const MAX_REFS = 20_000;
const MAX_REDIRECTS = 5;
const MAX_CAPABILITIES = 1000;
const SERVICE = 'git-upload-pack';
const AGENT = 'agent=git/lemnos';

export class GitRemote {
  readonly #options: GitRemoteOptions;
  /** Behind the redirects of the first request, as git's own client goes on from there. */
  #base: URL;
  #authorization: string | undefined;
  #version: 0 | 2 = 0;
  #capabilities: ReadonlySet<string> = new Set();

  /** @param url of the repository, without credentials */
  constructor(url: URL, options: GitRemoteOptions) {
    this.#options = options;
    this.#base = url;
    const { credentials } = options;
    if (credentials !== undefined) {
      const pair = Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64');
      this.#authorization = `Basic ${pair}`;
    }
  }

  /** @throws GitRemoteError */
  refs(): Promise<RemoteRefs> {
    return translated(async () => {
      const listing = new Listing(this.#options.maxRefs ?? MAX_REFS);
      const response = await this.#discover();
      try {
        await this.#readRefs(new PktReader(response.body), listing);
      } finally {
        response.close();
      }
      return listing;
    });
  }

  /**
   * The pack of everything that these objects reach. Call {@link refs} first.
   * @throws GitRemoteError
   */
  async *pack(wants: readonly Oid[]): AsyncGenerator<Uint8Array, void, undefined> {
    const { maxPackBytes } = this.#options;
    const body = this.#version === 2 ? fetchRequest(wants) : uploadPackRequest(wants, this.#capabilities);
    const response = await translated(() =>
      this.#post(body, maxPackBytes + maxPackBytes / 16 + MAX_LISTING_BYTES),
    );
    try {
      const reader = new PktReader(response.body);
      const banded = await translated(() => this.#skipToPack(reader));
      const pieces = banded ? firstBand(reader) : reader.rest();
      let bytes = 0;
      for (;;) {
        const { done, value } = await translated(() => pieces.next());
        if (done === true) return;
        bytes += value.length;
        if (bytes > maxPackBytes) throw new GitRemoteError('too-large');
        yield value;
      }
    } finally {
      response.close();
    }
  }

  /** The first request: finds out where the repository is. */
  async #discover(): Promise<OutboundResponse> {
    const url = below(this.#base, `/info/refs?service=${SERVICE}`);
    const headers = { 'Git-Protocol': 'version=2' };
    const limits = { maxBytes: MAX_LISTING_BYTES, maxRedirects: MAX_REDIRECTS };
    const response = await this.#send({ method: 'GET', url, headers }, limits, `${SERVICE}-advertisement`);
    if (response.url.href !== url.href) this.#moveTo(response.url, url.search);
    return response;
  }

  #moveTo(url: URL, search: string): void {
    if (!url.pathname.endsWith('/info/refs') || url.search !== search) throw new GitRemoteError('redirects');
    const base = new URL(url);
    base.pathname = url.pathname.slice(0, -'/info/refs'.length);
    base.search = '';
    if (base.origin !== this.#base.origin) this.#authorization = undefined;
    this.#base = base;
  }

  async #readRefs(reader: PktReader, listing: Listing): Promise<void> {
    let first = await reader.next();
    if (textOf(first) === `# service=${SERVICE}`) {
      if ((await reader.next()).kind !== 'flush') throw new GitRemoteError('protocol');
      first = await reader.next();
    }
    if (textOf(first) === 'version 1') first = await reader.next();
    if (textOf(first) !== 'version 2') return this.#readAdvertisement(first, reader, listing);
    this.#version = 2;
    this.#capabilities = await capabilities(reader);
    demandSha1(this.#capabilities);
    const response = await this.#post(lsRefsRequest(), MAX_LISTING_BYTES);
    try {
      await readLsRefs(new PktReader(response.body), listing);
    } finally {
      response.close();
    }
  }

  /** Versions 0 and 1: refs in the first answer, capabilities behind the first of them. */
  async #readAdvertisement(first: Pkt, reader: PktReader, listing: Listing): Promise<void> {
    if (first.kind === 'flush') return;
    if (first.kind !== 'data') throw new GitRemoteError('protocol');
    const zero = first.data.indexOf(0);
    if (zero >= 0) {
      const text = Buffer.from(first.data.subarray(zero + 1)).toString('latin1');
      this.#capabilities = new Set(text.trim().split(' '));
      demandSha1(this.#capabilities);
    }
    const symref = [...this.#capabilities].find((one) => one.startsWith('symref=HEAD:'));
    if (symref !== undefined) listing.pointHead(Buffer.from(symref.slice('symref=HEAD:'.length), 'latin1'));
    let line: Pkt = zero < 0 ? first : { kind: 'data', data: first.data.subarray(0, zero) };
    for (; line.kind === 'data'; line = await reader.next()) {
      demandNoError(line);
      const [oid, name] = cut(withoutNewline(line.data));
      if (oid.toString('latin1') === 'shallow') continue;
      listing.add(oid, name);
    }
    if (line.kind !== 'flush') throw new GitRemoteError('protocol');
  }

  /** @returns whether the pack comes in side bands */
  async #skipToPack(reader: PktReader): Promise<boolean> {
    for (let lines = 0; lines < MAX_CAPABILITIES; lines++) {
      const line = await reader.next();
      if (line.kind === 'end') break;
      demandNoError(line);
      const text = textOf(line);
      if (this.#version === 2 && text === 'packfile') return true;
      if (this.#version === 0 && text === 'NAK') return this.#capabilities.has('side-band-64k');
    }
    throw new GitRemoteError('protocol');
  }

  #post(body: Uint8Array, maxBytes: number): Promise<OutboundResponse> {
    const headers = {
      'Content-Type': `application/x-${SERVICE}-request`,
      Accept: `application/x-${SERVICE}-result`,
      ...(this.#version === 2 ? { 'Git-Protocol': 'version=2' } : {}),
    };
    const url = below(this.#base, `/${SERVICE}`);
    return this.#send({ method: 'POST', url, headers, body }, { maxBytes }, `${SERVICE}-result`);
  }

  async #send(request: OutboundRequest, limits: OutboundLimits, type: string): Promise<OutboundResponse> {
    const { signal, policy, timing } = this.#options;
    const asked = {
      ...request,
      authorization: this.#authorization,
      ...(signal === undefined ? {} : { signal }),
    };
    const response = await outboundRequest(asked, { ...timing, ...limits }, policy);
    const failure = failureOf(response, `application/x-${type}`);
    if (failure === undefined) return response;
    response.close();
    throw new GitRemoteError(failure);
  }
}

function failureOf({ status, headers }: OutboundResponse, type: string): GitRemoteFailure | undefined {
  if (status === 401 || status === 403) return 'unauthorized';
  if (status === 404 || status === 410) return 'not-found';
  if (status !== 200) return 'refused';
  if (headers['content-type'] !== type) return 'not-a-repository';
  // It was not asked for.
  return (headers['content-encoding'] ?? 'identity') === 'identity' ? undefined : 'protocol';
}

const below = (base: URL, rest: string): URL => {
  const url = new URL(base);
  const [path, search = ''] = rest.split('?') as [string, string?];
  url.pathname = `${base.pathname.replace(/\/+$/, '')}${path}`;
  url.search = search;
  return url;
};

async function capabilities(reader: PktReader): Promise<Set<string>> {
  const all = new Set<string>();
  for (;;) {
    const line = await reader.next();
    if (line.kind === 'flush') return all;
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

const lsRefsRequest = () =>
  Buffer.concat([
    pkt('command=ls-refs\n'),
    pkt(AGENT),
    DELIM,
    pkt('symrefs\n'),
    ...['HEAD', 'refs/heads/', 'refs/tags/'].map((prefix) => pkt(`ref-prefix ${prefix}\n`)),
    FLUSH,
  ]);

async function readLsRefs(reader: PktReader, listing: Listing): Promise<void> {
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

const fetchRequest = (wants: readonly Oid[]) =>
  Buffer.concat([
    pkt('command=fetch\n'),
    pkt(AGENT),
    DELIM,
    pkt('no-progress\n'),
    pkt('ofs-delta\n'),
    ...wants.map((oid) => pkt(`want ${oid}\n`)),
    pkt('done\n'),
    FLUSH,
  ]);

function uploadPackRequest(wants: readonly Oid[], known: ReadonlySet<string>): Uint8Array {
  const offered = ['ofs-delta', 'side-band-64k', 'no-progress'].filter((name) => known.has(name));
  const lines = wants.map((oid, index) =>
    pkt(`want ${oid}${index === 0 ? ` ${[...offered, AGENT].join(' ')}` : ''}\n`),
  );
  return Buffer.concat([...lines, FLUSH, pkt('done\n')]);
}

async function* firstBand(reader: PktReader): AsyncGenerator<Uint8Array, void, undefined> {
  for (;;) {
    const line = await reader.next();
    if (line.kind === 'flush') return;
    if (line.kind !== 'data') throw new GitRemoteError('protocol');
    if (line.data[0] === 1) yield line.data.subarray(1);
    else if (line.data[0] === 3) throw new GitRemoteError('refused');
    else if (line.data[0] !== 2) throw new GitRemoteError('protocol');
  }
}

/** What a server says of its refs, as far as it can be taken. */
class Listing implements RemoteRefs {
  head: RefName | undefined;
  headOid: Oid | undefined;
  readonly refs: RemoteRef[] = [];
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  add(oidText: Buffer, nameBytes: Buffer): void {
    const oid = parseOid(oidText.toString('latin1'));
    // An unborn HEAD has no object; an empty repository of version 0 has a line of zeros.
    if (oidText.toString('latin1') === 'unborn' || oid === ZERO_OID) return;
    if (oid === undefined) throw new GitRemoteError('protocol');
    const text = nameBytes.toString('utf8');
    if (text === 'HEAD') this.headOid = oid;
    const name = isUtf8(nameBytes) ? takenName(text) : undefined;
    if (name === undefined) return;
    if (this.refs.length === this.#most) throw new GitRemoteError('too-many-refs');
    this.refs.push({ name, oid });
  }

  pointHead(target: Buffer): void {
    this.head ??= isUtf8(target) ? takenName(target.toString('utf8')) : undefined;
  }
}

function takenName(text: string): RefName | undefined {
  return /^refs\/(heads|tags)\//.test(text) ? pushableName(text) : undefined;
}

function demandNoError(line: Pkt): void {
  if (textOf(line)?.startsWith('ERR ') === true) throw new GitRemoteError('refused');
}

const textOf = (line: Pkt): string | undefined =>
  line.kind === 'data' ? withoutNewline(line.data).toString('latin1') : undefined;

function withoutNewline(data: Uint8Array): Buffer {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.length);
  return bytes.at(-1) === 0x0a ? bytes.subarray(0, -1) : bytes;
}

/** In two at the first space. */
function cut(bytes: Buffer): [Buffer, Buffer] {
  const at = bytes.indexOf(0x20);
  return at < 0 ? [bytes, Buffer.alloc(0)] : [bytes.subarray(0, at), bytes.subarray(at + 1)];
}

async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof GitRemoteError) throw error;
    if (error instanceof OutboundError) throw new GitRemoteError(error.failure, error);
    if (error instanceof WireError) throw new GitRemoteError('protocol', error);
    throw error;
  }
}

/**
 * The client side of a clone over smart HTTP (gitprotocol-http), versions 0 to 2 (gitprotocol-pack,
 * gitprotocol-v2). The pack is passed on as a stream, without parsing or storing it.
 */
import type { Oid } from '../git/oid.ts';
import { WireError } from '../git/wire/error.ts';
import { DELIM, FLUSH, PktReader, pkt } from '../git/wire/pkt-line.ts';
import type { DestinationPolicy } from './destination.ts';
import { OutboundError } from './errors.ts';
import { GitRemoteError, type GitRemoteFailure } from './git-remote-error.ts';
import { demandNoError, Listing, type RemoteRefs, readGreeting, readLsRefs, textOf } from './remote-refs.ts';
import {
  mayForwardCredentials,
  type OutboundLimits,
  type OutboundRequest,
  type OutboundResponse,
  outboundRequest,
} from './request.ts';

/** For HTTP Basic authentication. */
export interface Credentials {
  readonly username: string;
  readonly password: string;
}

export interface GitRemoteOptions {
  readonly policy: DestinationPolicy;
  readonly credentials?: Credentials | undefined;
  readonly signal?: AbortSignal;
  /** Maximum size of the pack. */
  readonly maxPackBytes: number;
  /** Maximum number of branches and tags. Default 20,000, as in one push. */
  readonly maxRefs?: number;
  readonly timing?: Pick<OutboundLimits, 'headMs' | 'idleMs'>;
}

const MAX_LISTING_BYTES = 64 * 1024 * 1024;
const MAX_REFS = 20_000;
const MAX_REDIRECTS = 5;
/** Maximum lines before the pack: acknowledgements, and unrequested sections. */
const MAX_LINES = 1000;
const SERVICE = 'git-upload-pack';
const AGENT = 'agent=git/lemnos';

export class GitRemote {
  readonly #options: GitRemoteOptions;
  /** The URL after the redirects of the first request; like git's client, uses it for all further requests. */
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

  /** The first request, which follows redirects to the repository. */
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
    if (!mayForwardCredentials(this.#base, base)) this.#authorization = undefined;
    this.#base = base;
  }

  async #readRefs(reader: PktReader, listing: Listing): Promise<void> {
    const { version, capabilities } = await readGreeting(reader, SERVICE, listing);
    this.#version = version;
    this.#capabilities = capabilities;
    if (version === 0) return;
    const response = await this.#post(lsRefsRequest(), MAX_LISTING_BYTES);
    try {
      await readLsRefs(new PktReader(response.body), listing);
    } finally {
      response.close();
    }
  }

  /** @returns whether the pack is sent in side bands */
  async #skipToPack(reader: PktReader): Promise<boolean> {
    for (let lines = 0; lines < MAX_LINES; lines++) {
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
  // A content encoding was not requested.
  return (headers['content-encoding'] ?? 'identity') === 'identity' ? undefined : 'protocol';
}

const below = (base: URL, rest: string): URL => {
  const url = new URL(base);
  const [path, search = ''] = rest.split('?') as [string, string?];
  url.pathname = `${base.pathname.replace(/\/+$/, '')}${path}`;
  url.search = search;
  return url;
};

const lsRefsRequest = () =>
  Buffer.concat([
    pkt('command=ls-refs\n'),
    pkt(AGENT),
    DELIM,
    pkt('symrefs\n'),
    ...['HEAD', 'refs/heads/', 'refs/tags/'].map((prefix) => pkt(`ref-prefix ${prefix}\n`)),
    FLUSH,
  ]);

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

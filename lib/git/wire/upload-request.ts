/** Parses the requests of upload-pack: version 0 and 1 (gitprotocol-pack) and version 2 (gitprotocol-v2, "fetch"). */
import { type Oid, parseOid } from '../oid.ts';
import type { ObjectFilter } from '../reachable.ts';
import { type Capabilities, checkObjectFormat, parseCapabilities } from './capabilities.ts';
import { WireError } from './error.ts';
import { parseFilter } from './filter-spec.ts';
import { quoted, textLine } from './line.ts';
import type { PktReader } from './pkt-line.ts';
import type { SideBand } from './side-band.ts';

/** How much history a shallow client requests. */
export type Deepen =
  /** at most this many commits deep, the want being the first; `relative`: from the client's boundary */
  | { readonly kind: 'depth'; readonly depth: number; readonly relative: boolean }
  /** commits not older than `since` (seconds) and not reachable from the refs `not` */
  | { readonly kind: 'boundary'; readonly since: number | undefined; readonly not: readonly string[] };

/** git's "infinite" depth, which `fetch --unshallow` sends. */
export const INFINITE_DEPTH = 0x7fffffff;

export interface FetchOptions {
  readonly thinPack: boolean;
  readonly ofsDelta: boolean;
  readonly includeTag: boolean;
  readonly progress: boolean;
  readonly sideBand: SideBand;
}

export interface Wants {
  readonly wants: readonly Oid[];
  /** Commits whose parents the client does not have. */
  readonly shallow: readonly Oid[];
  readonly deepen: Deepen | undefined;
  /** The filter of a partial clone. */
  readonly filter: ObjectFilter | undefined;
}

/** The part of a version 0 or 1 request before the haves. */
export interface WantSection extends Wants {
  readonly multiAck: 'none' | 'continue' | 'detailed';
  readonly noDone: boolean;
  readonly options: FetchOptions;
}

/**
 * Reads up to the flush after the wants; the haves stay in the reader.
 * @returns undefined for a body without wants (git's probe before a large request)
 */
export async function readWants(reader: PktReader): Promise<WantSection | undefined> {
  let capabilities: Capabilities | undefined;
  const asked = new FetchArguments();
  for (;;) {
    const packet = await reader.next();
    if (packet.kind === 'flush') break;
    if (packet.kind === 'end' && capabilities === undefined) break;
    if (packet.kind === 'end') throw new WireError('truncated', 'the request ends before its wants do');
    if (packet.kind !== 'data') throw new WireError('request-malformed', `unexpected ${packet.kind} packet`);
    const line = textLine(packet.data);
    if (capabilities === undefined && line.startsWith('want ')) {
      capabilities = parseCapabilities(line.slice(45));
      asked.take(line.slice(0, 45).trimEnd());
    } else if (!asked.take(line)) {
      throw new WireError('request-malformed', `git upload-pack: protocol error, unexpected ${quoted(line)}`);
    }
  }
  if (capabilities === undefined) return undefined;
  checkObjectFormat(capabilities);
  const has = (name: string) => capabilities.has(name);
  return {
    ...asked.result(has('deepen-relative')),
    multiAck: has('multi_ack_detailed') ? 'detailed' : has('multi_ack') ? 'continue' : 'none',
    noDone: has('no-done'),
    options: {
      thinPack: has('thin-pack'),
      ofsDelta: has('ofs-delta'),
      includeTag: has('include-tag'),
      progress: !has('no-progress'),
      sideBand: has('side-band-64k') ? 'side-band-64k' : has('side-band') ? 'side-band' : 'none',
    },
  };
}

export interface FetchRequest extends Wants {
  readonly haves: readonly Oid[];
  readonly done: boolean;
  readonly waitForDone: boolean;
  /** Of packs that the client fetches by URL: `https`, `http`. */
  readonly uriProtocols: readonly string[];
  readonly options: FetchOptions;
}

/** The arguments of version 2's `fetch`. @throws WireError for an argument that was not advertised */
export function parseFetch(lines: readonly string[]): FetchRequest {
  const asked = new FetchArguments();
  const haves = new Set<Oid>();
  const flags = new Set<string>();
  let uriProtocols: readonly string[] = [];
  for (const line of lines) {
    if (asked.take(line)) continue;
    if (FETCH_FLAGS.has(line)) flags.add(line);
    else if (line.startsWith('packfile-uris ')) uriProtocols = line.slice('packfile-uris '.length).split(',');
    else if (line.startsWith('have ')) haves.add(oidArgument(line, 'have '));
    else throw new WireError('request-malformed', `unexpected line: ${quoted(line)}`);
  }
  return {
    ...asked.result(flags.has('deepen-relative')),
    haves: [...haves],
    done: flags.has('done'),
    waitForDone: flags.has('wait-for-done'),
    uriProtocols,
    options: {
      thinPack: flags.has('thin-pack'),
      ofsDelta: flags.has('ofs-delta'),
      includeTag: flags.has('include-tag'),
      progress: !flags.has('no-progress'),
      sideBand: 'side-band-64k',
    },
  };
}

const FETCH_FLAGS = new Set([
  'done',
  'thin-pack',
  'no-progress',
  'include-tag',
  'ofs-delta',
  'wait-for-done',
  'deepen-relative',
]);

/** Collects the lines that are the same in both versions. */
class FetchArguments {
  readonly #wants = new Set<Oid>();
  readonly #shallow = new Set<Oid>();
  readonly #not: string[] = [];
  #depth = 0;
  #since: number | undefined;
  #filter: ObjectFilter | undefined;

  /** @returns false for any other line */
  take(line: string): boolean {
    if (line.startsWith('want ')) this.#wants.add(oidArgument(line, 'want '));
    else if (line.startsWith('shallow ')) this.#shallow.add(oidArgument(line, 'shallow '));
    else if (line.startsWith('deepen ')) this.#depth = number(line, 'deepen ');
    else if (line.startsWith('deepen-since ')) this.#since = number(line, 'deepen-since ');
    else if (line.startsWith('deepen-not ')) this.#not.push(line.slice('deepen-not '.length));
    else if (line.startsWith('filter ')) this.#takeFilter(line.slice('filter '.length));
    else return false;
    return true;
  }

  #takeFilter(spec: string): void {
    if (this.#filter) throw new WireError('request-malformed', 'multiple filter-specs cannot be combined');
    this.#filter = parseFilter(spec);
  }

  result(relative: boolean): Wants {
    const boundary = this.#since !== undefined || this.#not.length > 0;
    if (boundary && this.#depth > 0) {
      throw new WireError(
        'request-malformed',
        'deepen and deepen-since (or deepen-not) cannot be used together',
      );
    }
    let deepen: Deepen | undefined;
    if (boundary) deepen = { kind: 'boundary', since: this.#since, not: this.#not };
    else if (this.#depth > 0) deepen = { kind: 'depth', depth: this.#depth, relative };
    return { wants: [...this.#wants], shallow: [...this.#shallow], deepen, filter: this.#filter };
  }
}

export function oidArgument(line: string, keyword: string): Oid {
  const oid = parseOid(line.slice(keyword.length));
  if (oid === undefined) throw new WireError('request-malformed', `invalid ${keyword}line: ${quoted(line)}`);
  return oid;
}

/** A positive decimal number; larger ones count as git's infinite depth. */
function number(line: string, keyword: string): number {
  const digits = line.slice(keyword.length);
  if (!/^[0-9]{1,19}$/.test(digits) || Number(digits) === 0) {
    throw new WireError('request-malformed', `invalid ${keyword}line: ${quoted(line)}`);
  }
  return Number(digits);
}

/**
 * Parses what `git push` sends before its pack (gitprotocol-pack, "Reference Update Request and Packfile Transfer").
 */
import { type Oid, parseOid } from '../oid.ts';
import { type Capabilities, checkObjectFormat, parseCapabilities } from './capabilities.ts';
import { WireError } from './error.ts';
import { quoted, textLine } from './line.ts';
import type { PktReader } from './pkt-line.ts';
import type { SideBand } from './side-band.ts';

/** One line `<old> <new> <name>`; the name is not checked yet. Both ids zero: deletes a ref that does not exist. */
export interface Command {
  readonly name: string;
  readonly from: Oid;
  readonly to: Oid;
}

export interface ReceiveRequest {
  readonly commands: readonly Command[];
  /** The boundary of a shallow clone: commits whose parents the client does not have. */
  readonly shallow: readonly Oid[];
  readonly capabilities: Capabilities;
  readonly report: 'none' | 'report-status' | 'report-status-v2';
  readonly sideBand: SideBand;
  readonly atomic: boolean;
  readonly quiet: boolean;
  readonly pushOptions: readonly string[];
}

export interface ReceiveRequestLimits {
  readonly maxCommands: number;
  readonly maxPushOptions: number;
  /** Of all push options together. */
  readonly maxPushOptionBytes: number;
}

export const REQUEST_LIMITS: ReceiveRequestLimits = {
  maxCommands: 20_000,
  maxPushOptions: 100,
  maxPushOptionBytes: 256 * 1024,
};

/** A malformed request, with the capabilities read so far, which determine the form of the answer. */
export class ReceiveRequestError extends Error {
  readonly partial: ReceiveRequest;
  constructor(cause: WireError, partial: ReceiveRequest) {
    super(cause.message, { cause });
    this.name = 'ReceiveRequestError';
    this.partial = partial;
  }
}

/** Longer names are not valid, and would not fit into a line of the report. */
const MAX_NAME_LENGTH = 4096;

/**
 * Reads the request up to the pack, which stays in the reader.
 * @returns undefined for a body without commands (git's probe before a large push).
 * @throws ReceiveRequestError
 */
export async function readCommands(
  reader: PktReader,
  limits: ReceiveRequestLimits,
): Promise<ReceiveRequest | undefined> {
  const commands: Command[] = [];
  const shallow: Oid[] = [];
  const pushOptions: string[] = [];
  let capabilities: Capabilities | undefined;
  try {
    for (;;) {
      const data = await nextData(reader);
      if (data === undefined) break;
      const nul = data.indexOf(0);
      // Before the rest of the line: they say how a client wants to be told what is wrong with it.
      if (nul >= 0 && capabilities === undefined) {
        capabilities = parseCapabilities(textLine(data.subarray(nul + 1)));
        checkObjectFormat(capabilities);
      }
      const line = textLine(nul < 0 ? data : data.subarray(0, nul), 'the name of a ref');
      if (line.startsWith('shallow ')) {
        shallow.push(shallowOid(line));
        if (shallow.length > limits.maxCommands) throw new WireError('limit', 'too many shallow lines');
        continue;
      }
      if (line.startsWith('push-cert')) throw new WireError('unsupported', 'signed pushes are not supported');
      if (capabilities === undefined) {
        capabilities = parseCapabilities('');
        checkObjectFormat(capabilities);
      }
      commands.push(parseCommand(line));
      if (commands.length > limits.maxCommands) {
        throw new WireError('limit', `too many ref updates in one push (at most ${limits.maxCommands})`);
      }
    }
    if (capabilities === undefined) return undefined;
    if (capabilities.has('push-options')) {
      let bytes = 0;
      for (let line = await nextLine(reader); line !== undefined; line = await nextLine(reader)) {
        pushOptions.push(line);
        bytes += Buffer.byteLength(line);
        if (pushOptions.length > limits.maxPushOptions) {
          throw new WireError('limit', `too many push options (at most ${limits.maxPushOptions})`);
        }
        if (bytes > limits.maxPushOptionBytes) {
          throw new WireError('limit', `push options too long (at most ${limits.maxPushOptionBytes} bytes)`);
        }
      }
    }
  } catch (error) {
    if (error instanceof WireError) throw new ReceiveRequestError(error, request());
    throw error;
  }
  return request();

  function request(): ReceiveRequest {
    const known = capabilities ?? new Map<string, string>();
    return {
      commands,
      shallow,
      capabilities: known,
      report: known.has('report-status-v2')
        ? 'report-status-v2'
        : known.has('report-status')
          ? 'report-status'
          : 'none',
      sideBand: known.has('side-band-64k') ? 'side-band-64k' : 'none',
      atomic: known.has('atomic'),
      quiet: known.has('quiet'),
      pushOptions,
    };
  }
}

async function nextLine(reader: PktReader): Promise<string | undefined> {
  const data = await nextData(reader);
  return data && textLine(data);
}

/** The bytes of the next line; undefined for a flush packet. @throws WireError when the body ends here */
async function nextData(reader: PktReader): Promise<Uint8Array | undefined> {
  const packet = await reader.next();
  if (packet.kind === 'flush') return undefined;
  if (packet.kind === 'data') return packet.data;
  if (packet.kind === 'end') throw new WireError('truncated', 'the request ends before its flush packet');
  throw new WireError('request-malformed', `unexpected ${packet.kind} packet`);
}

function shallowOid(line: string): Oid {
  const oid = parseOid(line.slice('shallow '.length));
  if (oid !== undefined) return oid;
  throw new WireError('request-malformed', `protocol error: expected shallow sha, got ${quoted(line)}`);
}

function parseCommand(line: string): Command {
  const from = parseOid(line.slice(0, 40));
  const to = parseOid(line.slice(41, 81));
  const name = line.slice(82);
  if (from === undefined || to === undefined || line[40] !== ' ' || line[81] !== ' ' || name === '') {
    throw new WireError('request-malformed', `protocol error: expected old/new/ref, got ${quoted(line)}`);
  }
  if (name.length > MAX_NAME_LENGTH) throw new WireError('limit', `ref name too long: ${quoted(name)}`);
  return { name, from, to };
}

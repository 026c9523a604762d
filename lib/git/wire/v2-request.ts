/** A version 2 request (gitprotocol-v2, "Command Request"): command, capabilities, delimiter, arguments, flush. */
import { type Capabilities, checkObjectFormat } from './capabilities.ts';
import { WireError } from './error.ts';
import { quoted, textLine } from './line.ts';
import type { Pkt, PktReader } from './pkt-line.ts';

export interface V2Request {
  readonly command: string;
  readonly capabilities: Capabilities;
  readonly serverOptions: readonly string[];
  readonly arguments: readonly string[];
}

const KNOWN = new Set(['agent', 'object-format', 'server-option', 'session-id']);

/** @returns undefined for a body without a request (a flush only, or empty) */
export async function readV2Request(reader: PktReader): Promise<V2Request | undefined> {
  const first = await reader.next();
  if (first.kind === 'flush' || first.kind === 'end') return undefined;
  const capabilities = new Map<string, string>();
  const serverOptions: string[] = [];
  const args: string[] = [];
  let command: string | undefined;
  let into: 'capabilities' | 'arguments' = 'capabilities';
  for (let packet: Pkt = first; packet.kind !== 'flush'; packet = await reader.next()) {
    if (packet.kind === 'end') throw new WireError('truncated', 'the request ends before its flush packet');
    if (packet.kind === 'delim' && into === 'capabilities') {
      into = 'arguments';
      continue;
    }
    if (packet.kind !== 'data') throw new WireError('request-malformed', `unexpected ${packet.kind} packet`);
    const line = textLine(packet.data);
    if (into === 'arguments') {
      args.push(line);
      continue;
    }
    const equals = line.indexOf('=');
    const name = equals < 0 ? line : line.slice(0, equals);
    const value = equals < 0 ? '' : line.slice(equals + 1);
    if (name === 'command' && command !== undefined) {
      throw new WireError('request-malformed', `command ${quoted(command)} already given`);
    } else if (name === 'command') command = value;
    else if (!KNOWN.has(name)) throw new WireError('unsupported', `unknown capability ${quoted(line)}`);
    else if (name === 'server-option') serverOptions.push(value);
    else capabilities.set(name, value);
  }
  if (command === undefined) throw new WireError('request-malformed', 'no command requested');
  checkObjectFormat(capabilities);
  return { command, capabilities, serverOptions, arguments: args };
}

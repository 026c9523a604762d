/**
 * Packet lines (gitprotocol-common, "pkt-line Format"): four hex digits of length, themselves included,
 * then that many bytes less four. Lengths 0 to 2 are the flush, delimiter and response-end packets.
 */
import { WireError } from './error.ts';

export type Pkt =
  | { readonly kind: 'data'; readonly data: Uint8Array }
  | { readonly kind: 'flush' }
  | { readonly kind: 'delim' }
  | { readonly kind: 'response-end' }
  /** the body ended between two packet lines */
  | { readonly kind: 'end' };

/** Maximum bytes of a packet line, including its length; git reads no longer ones. */
const MAX_PKT = 65520;
/** Maximum bytes after the length. */
export const MAX_PKT_DATA = MAX_PKT - 4;

export const FLUSH: Uint8Array = Buffer.from('0000');
export const DELIM: Uint8Array = Buffer.from('0001');
export const RESPONSE_END: Uint8Array = Buffer.from('0002');

/** One packet line. Text is sent unchanged: the caller adds the trailing newline where git has one. */
export function pkt(content: string | Uint8Array): Uint8Array {
  const data = typeof content === 'string' ? Buffer.from(content) : content;
  if (data.length > MAX_PKT_DATA) throw new RangeError(`${data.length} bytes do not fit a packet line`);
  const line = Buffer.allocUnsafe(data.length + 4);
  line.write(lengthOfPkt(line.length), 0, 'latin1');
  line.set(data, 4);
  return line;
}

/** What a packet line of so many bytes, these included, begins with. */
export const lengthOfPkt = (bytes: number): string => bytes.toString(16).padStart(4, '0');

const FLUSH_PKT: Pkt = { kind: 'flush' };
const DELIM_PKT: Pkt = { kind: 'delim' };
const RESPONSE_END_PKT: Pkt = { kind: 'response-end' };
const END_PKT: Pkt = { kind: 'end' };

/**
 * Reads packet lines from a body in pieces of any size, and then passes on what follows them (a pack).
 * Holds at most one packet line and one piece of the body.
 */
export class PktReader {
  #body: AsyncIterator<Uint8Array>;
  #piece: Uint8Array = new Uint8Array(0);
  #at = 0;
  #ended = false;

  constructor(body: AsyncIterable<Uint8Array>) {
    this.#body = body[Symbol.asyncIterator]();
  }

  /** @throws WireError `pkt-malformed` or `truncated` */
  async next(): Promise<Pkt> {
    const prefix = await this.#take(4);
    if (prefix.length === 0) return END_PKT;
    if (prefix.length < 4) throw new WireError('truncated', 'the request ends inside a packet line');
    const length = pktLength(prefix);
    if (length === 0) return FLUSH_PKT;
    if (length === 1) return DELIM_PKT;
    if (length === 2) return RESPONSE_END_PKT;
    const data = await this.#take(length - 4);
    if (data.length < length - 4) throw new WireError('truncated', 'the request ends inside a packet line');
    return { kind: 'data', data };
  }

  /**
   * Everything after the last packet line read. Stopping early does not end the body, because a client reads the answer
   * only after it has sent everything.
   */
  async *rest(): AsyncGenerator<Uint8Array, void, undefined> {
    if (this.#at < this.#piece.length) {
      const left = this.#piece.subarray(this.#at);
      this.#at = this.#piece.length;
      yield left;
    }
    for (let piece = await this.#pull(); piece !== undefined; piece = await this.#pull()) {
      if (piece.length > 0) yield piece;
    }
  }

  /** Exactly `count` bytes, fewer only at the end of the body. */
  async #take(count: number): Promise<Uint8Array> {
    const end = this.#at + count;
    if (end <= this.#piece.length) {
      const view = this.#piece.subarray(this.#at, end);
      this.#at = end;
      return view;
    }
    const parts: Uint8Array[] = [];
    let have = 0;
    for (;;) {
      const part = this.#piece.subarray(this.#at, this.#at + count - have);
      this.#at += part.length;
      have += part.length;
      if (part.length > 0) parts.push(part);
      if (have === count) return Buffer.concat(parts, have);
      const piece = await this.#pull();
      if (piece === undefined) return Buffer.concat(parts, have);
      this.#piece = piece;
      this.#at = 0;
    }
  }

  async #pull(): Promise<Uint8Array | undefined> {
    if (this.#ended) return undefined;
    const { done, value } = await this.#body.next();
    if (!done) return value;
    this.#ended = true;
    return undefined;
  }
}

function pktLength(prefix: Uint8Array): number {
  let length = 0;
  for (const byte of prefix) {
    const digit = hexDigit(byte);
    if (digit < 0)
      throw new WireError('pkt-malformed', `bad packet line length ${JSON.stringify(latin1(prefix))}`);
    length = length * 16 + digit;
  }
  if (length === 3 || length > MAX_PKT) {
    throw new WireError('pkt-malformed', `bad packet line length ${JSON.stringify(latin1(prefix))}`);
  }
  return length;
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  if (byte >= 0x61 && byte <= 0x66) return byte - 0x57;
  if (byte >= 0x41 && byte <= 0x46) return byte - 0x37;
  return -1;
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1');
}

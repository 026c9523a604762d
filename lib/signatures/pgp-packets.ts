import { MalformedSignature } from './malformed.ts';

/** A packet of an OpenPGP message (RFC 9580 §4). */
export interface Packet {
  readonly type: number;
  readonly body: Buffer;
}

export const PACKET = {
  signature: 2,
  secretKey: 5,
  publicKey: 6,
  secretSubkey: 7,
  marker: 10,
  trust: 12,
  userId: 13,
  publicSubkey: 14,
  userAttribute: 17,
  padding: 21,
} as const;

/** More than the largest accepted key has, including the signatures of others. */
const MAX_PACKETS = 5_000;

/** @throws MalformedSignature */
export function readPackets(data: Buffer): Packet[] {
  const packets: Packet[] = [];
  const reader = new PgpReader(data);
  while (!reader.ended) {
    if (packets.length === MAX_PACKETS) throw new MalformedSignature('too many packets');
    const head = reader.byte();
    if ((head & 0x80) === 0) throw new MalformedSignature('it does not begin as a packet does');
    const [type, length] =
      (head & 0x40) === 0
        ? [(head >> 2) & 0x0f, oldLength(reader, head & 3)]
        : [head & 0x3f, newLength(reader)];
    if (type === 0) throw new MalformedSignature('a packet of no type');
    packets.push({ type, body: reader.take(length) });
  }
  return packets;
}

/** Does not support indeterminate and partial lengths, which keys and signatures do not use. */
function oldLength(reader: PgpReader, kind: number): number {
  if (kind === 3) throw new MalformedSignature('a packet without a length');
  return reader.number(1 << kind);
}

function newLength(reader: PgpReader): number {
  const first = reader.byte();
  if (first < 192) return first;
  if (first < 224) return ((first - 192) << 8) + reader.byte() + 192;
  if (first < 255) throw new MalformedSignature('a packet in parts');
  return reader.number(4);
}

/** Reads OpenPGP's data types. Every read throws MalformedSignature when there are not enough bytes. */
export class PgpReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get ended(): boolean {
    return this.#at === this.#bytes.length;
  }

  take(length: number): Buffer {
    if (length > this.#bytes.length - this.#at) throw new MalformedSignature('it ends too early');
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  byte(): number {
    return this.take(1)[0]!;
  }

  number(size: number): number {
    return this.take(size).readUIntBE(0, size);
  }

  /** A multiprecision integer (§3.2). Some programs write a wrong bit count, so only the byte count is used. */
  integer(): Buffer {
    return this.take(Math.ceil(this.number(2) / 8));
  }

  rest(): Buffer {
    return this.take(this.#bytes.length - this.#at);
  }
}

export interface Subpacket {
  readonly type: number;
  readonly critical: boolean;
  readonly body: Buffer;
}

/** @throws MalformedSignature */
export function readSubpackets(data: Buffer): Subpacket[] {
  const found: Subpacket[] = [];
  const reader = new PgpReader(data);
  while (!reader.ended) {
    const first = reader.byte();
    // Unlike in packet headers, two-byte lengths may start with any byte below 255.
    const length =
      first < 192 ? first : first < 255 ? ((first - 192) << 8) + reader.byte() + 192 : reader.number(4);
    if (length === 0) throw new MalformedSignature('a subpacket without a type');
    const type = reader.byte();
    found.push({ type: type & 0x7f, critical: type >= 0x80, body: reader.take(length - 1) });
  }
  return found;
}

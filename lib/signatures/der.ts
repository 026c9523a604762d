/**
 * Distinguished Encoding Rules (X.690), as far as keys, certificates and signed messages need them. The reader accepts
 * definite lengths only, checks bounds, and does not recurse.
 */
import { MalformedSignature } from './malformed.ts';

export const TAG = {
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  sequence: 0x30,
  set: 0x31,
} as const;

export interface DerValue {
  /** The identifier octet. */
  readonly tag: number;
  readonly content: Buffer;
  /** Tag and length included. */
  readonly whole: Buffer;
}

/** @throws MalformedSignature */
export function readDer(bytes: Buffer, at = 0): DerValue {
  const tag = bytes[at];
  const first = bytes[at + 1];
  if (tag === undefined || first === undefined) throw new MalformedSignature('DER ends too early');
  if ((tag & 0x1f) === 0x1f) throw new MalformedSignature('a DER tag of several bytes');
  let start = at + 2;
  let length = first;
  if (first >= 0x80) {
    const size = first & 0x7f;
    if (size === 0 || size > 4 || start + size > bytes.length) throw new MalformedSignature('a DER length');
    length = bytes.readUIntBE(start, size);
    start += size;
  }
  if (length > bytes.length - start) throw new MalformedSignature('DER ends too early');
  return { tag, content: bytes.subarray(start, start + length), whole: bytes.subarray(at, start + length) };
}

/** Reads a sequence of values. @throws MalformedSignature */
export function readAll(bytes: Buffer): DerValue[] {
  const values: DerValue[] = [];
  for (let at = 0; at < bytes.length; ) {
    const value = readDer(bytes, at);
    values.push(value);
    at += value.whole.length;
  }
  return values;
}

/** The parts of a value that must have this tag. @throws MalformedSignature */
export function partsOf(value: DerValue | undefined, tag: number): DerValue[] {
  if (value?.tag !== tag) throw new MalformedSignature('another DER value than expected');
  return readAll(value.content);
}

/** `1.2.840...` @throws MalformedSignature */
export function oidText(value: DerValue | undefined): string {
  if (value?.tag !== TAG.oid || value.content.length === 0)
    throw new MalformedSignature('no object identifier');
  const arcs: number[] = [];
  let arc = 0;
  for (const byte of value.content) {
    arc = arc * 128 + (byte & 0x7f);
    if (arc > Number.MAX_SAFE_INTEGER / 128)
      throw new MalformedSignature('an object identifier out of bounds');
    if (byte >= 0x80) continue;
    arcs.push(arc);
    arc = 0;
  }
  const [first = 0, ...others] = arcs;
  const root = Math.min(2, Math.floor(first / 40));
  return [root, first - root * 40, ...others].join('.');
}

export function der(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  const size = length < 0x100 ? 1 : length < 0x10000 ? 2 : 3;
  const head = Buffer.from([tag, 0x80 | size, 0, 0, 0]).subarray(0, 2 + size);
  head.writeUIntBE(length, 2, size);
  return Buffer.concat([head, content]);
}

/** A positive integer from its bytes, the most significant first. */
export function derInteger(bytes: Uint8Array): Buffer {
  let at = 0;
  while (at < bytes.length - 1 && bytes[at] === 0) at++;
  const digits = bytes.subarray(at);
  return der(
    TAG.integer,
    digits.length === 0 || digits[0]! >= 0x80 ? Buffer.from([0]) : Buffer.alloc(0),
    digits,
  );
}

/** An object identifier from its content bytes in hex. */
export const derOid = (hex: string): Buffer => der(TAG.oid, Buffer.from(hex, 'hex'));

export const derBits = (bytes: Uint8Array): Buffer => der(TAG.bitString, Buffer.from([0]), bytes);

import { createHash } from 'node:crypto';

export interface Key {
  readonly pk: string;
  readonly sk: string;
}

const MAX_ID = 999_999_999_999;

/**
 * 12 digits sort as numbers do and hold every id a counter can reach in practice. Callers ask for any number:
 * what is out of range stands for an id that nobody has.
 */
export const padded = (id: number): string => String(Math.min(Math.max(0, id), MAX_ID)).padStart(12, '0');

/** Comparison form of paths, usernames and e-mail addresses. */
export const folded = (name: string): string => name.normalize('NFC').toLowerCase();

/** @returns the id a padded key part ends in. */
export const idOf = (keyPart: string): number => Number(keyPart.slice(-12));

/** Sort key of an ordered index: the value, cut to fit 1,024 bytes, then the id as the tie-break. */
export const orderedBy = (value: string, id: number): string => `${cut(value, 900)}\u0000${padded(id)}`;

/** The name, or its first part and its digest where it would not fit into a key. */
export function wholeOrDigest(name: string): string {
  if (Buffer.byteLength(name) <= REF_WHOLE) return name;
  return `${cut(name, REF_WHOLE - 66)}\u007f${digestOf(name)}`;
}

export const REF_WHOLE = 1000;

export const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** At most `bytes` of UTF-8, never half a character. */
export function cut(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  let end = bytes;
  const encoded = Buffer.from(text);
  while ((encoded[end]! & 0xc0) === 0x80) end--;
  return encoded.toString('utf8', 0, end);
}

import { createHash } from 'node:crypto';

export interface Key {
  readonly pk: string;
  readonly sk: string;
}

export const MAX_ID = 999_999_999_999;

/**
 * Pads an id to 12 digits, so that keys sort numerically. Numbers out of range, which callers may request, become ids
 * that are never assigned.
 */
export const padded = (id: number): string => String(Math.min(Math.max(0, id), MAX_ID)).padStart(12, '0');

/** Comparison form of paths, usernames and email addresses. */
export const folded = (name: string): string => name.normalize('NFC').toLowerCase();

/** @returns the id at the end of a padded key part. */
export const idOf = (keyPart: string): number => Number(keyPart.slice(-12));

/** Sort key of an ordered index: the value, cut to fit 1,024 bytes, then the id as the tie-break. */
export const orderedBy = (value: string, id: number): string => orderedUnder(value) + padded(id);

/** What the sort keys of one value begin with. */
export const orderedUnder = (value: string): string => `${cut(value, 900)}\u0000`;

/** Returns the name, or its beginning and its digest if it would not fit into a key. */
export function wholeOrDigest(name: string): string {
  if (Buffer.byteLength(name) <= REF_WHOLE) return name;
  return `${cut(name, REF_WHOLE - 66)}\u007f${digestOf(name)}`;
}

export const REF_WHOLE = 1000;

export const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Cuts a text to at most `bytes` of UTF-8, between characters. */
export function cut(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  let end = bytes;
  const encoded = Buffer.from(text);
  while ((encoded[end]! & 0xc0) === 0x80) end--;
  return encoded.toString('utf8', 0, end);
}

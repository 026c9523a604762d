import type { Steps } from './work.ts';

/** The name of a Git object: 40 lower-case hex digits of SHA-1 (gitformat-pack, "SHA-1"). */
export type Oid = string & { readonly __brand: 'Oid' };

/** Means "no object" in ref updates (git-receive-pack). */
export const ZERO_OID = '0'.repeat(40) as Oid;

/** The id of the empty tree. It exists in every repository, whether a pack holds it or not. */
export const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904' as Oid;

const HEX40 = /^[0-9a-f]{40}$/;

/** @returns the id, or undefined when `text` is not 40 lower-case hex digits. */
export function parseOid(text: string): Oid | undefined {
  return HEX40.test(text) ? (text as Oid) : undefined;
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Reads the 20 bytes at `offset`. */
export function oidFromBytes(bytes: Uint8Array, offset = 0): Oid {
  let text = '';
  for (let i = offset; i < offset + 20; i++) text += HEX[bytes[i]!];
  return text as Oid;
}

/** The 20 bytes of an id. */
export function oidBytes(oid: Oid): Uint8Array {
  return Buffer.from(oid, 'hex');
}

/** The 20 bytes of each of many ids. */
export function* bytesOf(oids: readonly Oid[]): Steps<Uint8Array> {
  const bytes = new Uint8Array(20 * oids.length);
  for (const [i, oid] of oids.entries()) {
    bytes.set(oidBytes(oid), 20 * i);
    if ((i & 255) === 255) yield;
  }
  return bytes;
}

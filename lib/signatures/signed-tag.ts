import { asBuffer } from '../bytes/as-buffer.ts';

export interface SignedTag {
  /** The armored text at the end of the message; none in a tag that is not signed. */
  readonly signatures: readonly string[];
  /** What was signed: all before that text, byte for byte. */
  readonly payload: Buffer;
}

/** Labels that begin a signature, at the beginning of a line (git's `gpg-interface.c`). */
const LABEL = /^-----BEGIN (?:PGP SIGNATURE|PGP MESSAGE|SIGNED MESSAGE|SSH SIGNATURE)-----/gm;

/** Separates a tag's signature, which follows its message, from its payload. Of several labels git takes the last. */
export function signedTag(bytes: Uint8Array): SignedTag {
  const data = asBuffer(bytes);
  const text = data.toString('latin1');
  const at = [...text.matchAll(LABEL)].at(-1)?.index;
  if (at === undefined) return { signatures: [], payload: data };
  return { signatures: [text.slice(at)], payload: data.subarray(0, at) };
}

/**
 * Splits a secret into two parts that are stored separately: the sealed text and its key. One of them alone is useless,
 * and when one is deleted the secret is lost.
 */
import { decrypt, encrypt, newKey } from '../sealing/cipher.ts';

export interface Sealed {
  /** Base64; used for this text only. */
  readonly key: string;
  /** Nonce, tag and encrypted text. */
  readonly bytes: Uint8Array;
}

export function seal(text: string): Sealed {
  const key = newKey();
  return { key, bytes: encrypt(key, text) };
}

/** @throws when the bytes are not what was sealed with this key */
export const unseal = ({ key, bytes }: Sealed): string => decrypt(key, bytes);

/**
 * A secret in two halves that travel and are kept apart: the sealed text in one place, its key in another. Whoever
 * finds one of them has nothing, and when one is deleted the secret is gone.
 */
import { decrypt, encrypt, newKey } from '../sealing/cipher.ts';

export interface Sealed {
  /** Base64; for this one text. */
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

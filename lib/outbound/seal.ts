/**
 * A secret in two halves that travel and are kept apart: the sealed text in one place, its key in another. Whoever
 * finds one of them has nothing, and when one is deleted the secret is gone.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export interface Sealed {
  /** Base64; for this one text. */
  readonly key: string;
  /** Nonce, tag and encrypted text. */
  readonly bytes: Uint8Array;
}

export function seal(text: string): Sealed {
  const [key, nonce] = [randomBytes(32), randomBytes(NONCE_BYTES)];
  const cipher = createCipheriv(CIPHER, key, nonce);
  const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return { key: key.toString('base64'), bytes: Buffer.concat([nonce, cipher.getAuthTag(), encrypted]) };
}

/** @throws when the bytes are not what was sealed with this key */
export function unseal({ key, bytes }: Sealed): string {
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const text = bytes.subarray(NONCE_BYTES + TAG_BYTES);
  const decipher = createDecipheriv(CIPHER, Buffer.from(key, 'base64'), nonce, { authTagLength: TAG_BYTES });
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  return Buffer.concat([decipher.update(text), decipher.final()]).toString('utf8');
}

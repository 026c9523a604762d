import { createHash } from 'node:crypto';

/**
 * Names of object files. A key is any UTF-8 of up to 1024 bytes, including `..`, `/` and NUL; a file name must be short,
 * plain, and unique even where the file system folds case or normalizes Unicode. So lower-case letters, digits, `-`, `.`
 * and `_` stay as they are and every other byte becomes `%xx`:
 *
 *     k<escaped key>       usual
 *     h<sha256 of the key> when that would be too long; the key is then read from the file's footer
 */
const MAX_NAME_BYTES = 200;

export function fileNameOf(key: string): string {
  let escaped = '';
  for (const byte of Buffer.from(key)) {
    escaped += PLAIN[byte] ?? `%${byte.toString(16).padStart(2, '0')}`;
    if (escaped.length > MAX_NAME_BYTES) return `h${createHash('sha256').update(key).digest('hex')}`;
  }
  return `k${escaped}`;
}

/** @returns undefined when the name is a hash */
export function keyOf(fileName: string): string | undefined {
  return fileName.startsWith('k') ? decodeURIComponent(fileName.slice(1)) : undefined;
}

/** The characters that stay as they are, by byte. */
const PLAIN: (string | undefined)[] = Array.from({ length: 256 }, (_, byte) => {
  const char = String.fromCharCode(byte);
  return /[a-z0-9._-]/.test(char) ? char : undefined;
});

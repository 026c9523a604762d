import { createHash } from 'node:crypto';

/**
 * Names of object files. A key is any UTF-8 up to 1024 bytes, `..`, `/` and NUL included; a file name must be
 * short, plain, and different from others even where the file system folds case or normalizes Unicode. So
 * lower-case letters, digits, `-`, `.` and `_` stand for themselves and every other byte is `%xx`:
 *
 *     k<escaped key>       usual
 *     h<sha256 of the key> when that would be too long; the key is then read from the file's footer
 */
const longest = 200;

export function fileNameOf(key: string): string {
  let escaped = '';
  for (const byte of Buffer.from(key)) {
    escaped += plain[byte] ?? `%${byte.toString(16).padStart(2, '0')}`;
    if (escaped.length > longest) return `h${createHash('sha256').update(key).digest('hex')}`;
  }
  return `k${escaped}`;
}

/** @returns undefined when the name is a hash */
export function keyOf(fileName: string): string | undefined {
  return fileName.startsWith('k') ? decodeURIComponent(fileName.slice(1)) : undefined;
}

const plain: (string | undefined)[] = Array.from({ length: 256 }, (_, byte) => {
  const char = String.fromCharCode(byte);
  return /[a-z0-9._-]/.test(char) ? char : undefined;
});

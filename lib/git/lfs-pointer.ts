import { asBuffer } from '../bytes/as-buffer.ts';
import { SMALL_BLOB_BYTES } from './objects.ts';

/** An object of Git LFS as a pointer names it. */
export interface LfsPointer {
  /** SHA-256 of the content, hexadecimal. */
  readonly oid: string;
  /** Bytes. */
  readonly size: number;
}

/** Reads what Git LFS stores in place of a file. @returns undefined for any other content */
export function parsePointer(data: Uint8Array): LfsPointer | undefined {
  if (data.length > SMALL_BLOB_BYTES) return undefined;
  const text = asBuffer(data).toString('latin1');
  if (!text.startsWith('version https://git-lfs.github.com/spec/')) return undefined;
  const oid = /\noid sha256:([0-9a-f]{64})\r?\n/.exec(text)?.[1];
  const size = /\nsize (\d{1,15})(?:\r?\n|$)/.exec(text)?.[1];
  return oid === undefined || size === undefined ? undefined : { oid, size: Number(size) };
}

import { SMALL_BLOB_BYTES } from '../../git/objects.ts';
import type { LfsPointer } from './objects.ts';

/** Reads what Git stores in place of a file. @returns undefined for any other content */
export function parsePointer(data: Uint8Array): LfsPointer | undefined {
  if (data.length > SMALL_BLOB_BYTES) return undefined;
  const text = Buffer.from(data.buffer, data.byteOffset, data.length).toString('latin1');
  if (!text.startsWith('version https://git-lfs.github.com/spec/')) return undefined;
  const oid = /\noid sha256:([0-9a-f]{64})\r?\n/.exec(text)?.[1];
  const size = /\nsize (\d{1,15})(?:\r?\n|$)/.exec(text)?.[1];
  return oid === undefined || size === undefined ? undefined : { oid, size: Number(size) };
}

import { open, rm } from 'node:fs/promises';
import type { ObjectDatabase, PackContent, PackDescription, RandomAccess } from '../ports.ts';

/** Bytes in memory as a file. */
export function memoryAccess(bytes: Uint8Array): RandomAccess {
  return {
    size: bytes.length,
    read: async (offset, length) => bytes.subarray(offset, offset + length),
  };
}

/** A file on disk, opened for each read: reads are large, and there is nothing to close afterwards. */
export function fileAccess(path: string, size: number): RandomAccess {
  return {
    size,
    read: async (offset, length) => {
      const bytes = Buffer.allocUnsafeSlow(Math.max(0, Math.min(length, size - offset)));
      const file = await open(path, 'r');
      try {
        let done = 0;
        while (done < bytes.length) {
          const { bytesRead } = await file.read(bytes, done, bytes.length - done, offset + done);
          if (bytesRead === 0) break;
          done += bytesRead;
        }
        return bytes.subarray(0, done);
      } finally {
        await file.close();
      }
    },
  };
}

function contentSize(content: PackContent): number {
  return content.kind === 'bytes' ? content.pack.length : content.packSize;
}

/** Opens the pack or index of content that is not stored yet. */
function contentAccess(content: PackContent, part: 'pack' | 'index'): RandomAccess {
  if (part === 'index') return memoryAccess(content.index);
  return content.kind === 'bytes'
    ? memoryAccess(content.pack)
    : fileAccess(content.packPath, content.packSize);
}

/** Removes the scratch file, where there is one. */
export async function discardContent(content: PackContent): Promise<void> {
  if (content.kind === 'file') await rm(content.packPath, { force: true });
}

let serial = 0;

/** `base` plus one unlisted pack in front: the received pack of a push, before it is accepted. */
export function withContent(base: ObjectDatabase, content: PackContent, objectCount: number): ObjectDatabase {
  const extra: PackDescription = {
    id: `~content-${++serial}`,
    source: 'receive',
    objectCount,
    packSize: contentSize(content),
    indexSize: content.index.length,
    layout: 'split',
    location: '',
  };
  return {
    listPacks: async (options) => [extra, ...(await base.listPacks(options))],
    open: (pack, part) => (pack.id === extra.id ? contentAccess(content, part) : base.open(pack, part)),
    newPack: (made, about) => base.newPack(made, about),
    rollbackPack: (pack) => base.rollbackPack(pack),
    ...(base.derived ? { derived: base.derived } : {}),
  };
}

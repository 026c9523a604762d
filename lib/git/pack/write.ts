import { createHash } from 'node:crypto';
import { CopiedPacks, checkTrailer, PACK_HEADER_SIZE } from './copied-packs.ts';
import type { ObjectList } from './object-list.ts';
import { PackWriter, SCAN_FROM, type WritePackOptions } from './pack-writer.ts';
import type { PackStore } from './store.ts';

export type { WritePackOptions } from './pack-writer.ts';

/**
 * Writes a pack of these objects, as a stream. A stored pack whose objects are all listed is copied whole. Of other
 * packs, entries are copied as they are stored, including deltas if their base is in the list or, in a thin pack, the
 * receiver has it; their CRC-32 is verified. Uses constant memory.
 *
 * @throws CorruptData, ObjectMissing, the adapter's I/O errors, in the middle of the stream, which then has no trailer
 */
export async function* writePack(
  store: PackStore,
  list: ObjectList,
  options: WritePackOptions = {},
): AsyncGenerator<Uint8Array> {
  const sha = createHash('sha1');
  const head = Buffer.alloc(PACK_HEADER_SIZE);
  head.write('PACK', 0, 'latin1');
  head.writeUInt32BE(2, 4);
  head.writeUInt32BE(list.count, 8);
  sha.update(head);
  yield head;
  const copied = new CopiedPacks(list, options.ofsDelta !== false);
  for await (const bytes of copied.entries(store)) {
    sha.update(bytes);
    yield bytes;
  }
  if (copied.count > 0) options.onProgress?.(copied.count, list.count);
  const writer = new PackWriter(list, options, copied);
  const scan = list.count - copied.count > SCAN_FROM;
  while (writer.done < list.count - copied.count || writer.unfinished) {
    const chunk = await store.run((objects) => writer.chunk(objects), { scan });
    sha.update(chunk);
    yield chunk;
    options.onProgress?.(copied.count + writer.done, list.count);
  }
  const checksum = sha.digest();
  if (copied.only) await checkTrailer(store, copied.only, checksum);
  if (options.onIndex) options.onIndex(await writer.index(store, checksum));
  yield checksum;
}

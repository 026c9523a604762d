import { createHash } from 'node:crypto';
import { CorruptData } from '../corrupt-data.ts';
import { type Oid, oidFromBytes } from '../oid.ts';
import type { ObjectDatabase, PackContent } from '../ports.ts';
import { withContent } from './content.ts';
import type { EntryTable } from './entry-table.ts';
import { PackCache } from './pack-cache.ts';
import { PackStore } from './store.ts';
import { streamObject } from './stream-object.ts';

const MAX_COMPARED_BYTES = 8 * 2 ** 20;

const NOTHING: ObjectDatabase = {
  listPacks: async () => [],
  open: () => {
    throw new Error('no packs');
  },
  newPack: async () => {
    throw new Error('read only');
  },
  rollbackPack: async () => {},
};

/** A store over a pack that is not stored yet. */
export function openContent(content: PackContent, objectCount: number): PackStore {
  return new PackStore(withContent(NOTHING, content, objectCount), {
    cache: new PackCache({ blockBytes: 16 << 20, baseBytes: 16 << 20 }),
  });
}

/**
 * Compares objects of a new pack with stored objects of the same id, byte by byte: Node's SHA-1 does not detect the
 * known collision attacks, and the first object with an id must never be replaced by another.
 *
 * @param count entries to compare, from the first: those after them completed a thin pack and came from the store
 * @throws CorruptData `collision`
 */
export async function findCollision(
  store: PackStore,
  received: PackStore,
  table: EntryTable,
  count: number,
): Promise<void> {
  if ((await store.packs()).length === 0) return;
  const known: number[] = [];
  let entry = 0;
  await store.run((objects) => {
    for (; entry < count; entry++) if (objects.locate(table.names, 20 * entry)) known.push(entry);
  });
  if (known.length === 0) return;
  for (const entry of known) {
    const oid = oidFromBytes(table.names, 20 * entry);
    if (!(await isSame(store, received, oid, table.sizes[entry]!))) {
      throw new CorruptData('collision', `object ${oid} differs from the stored one of the same id`);
    }
  }
}

/** Objects too large to be held in memory twice are compared by SHA-256, for which no collisions are known. */
async function isSame(store: PackStore, received: PackStore, oid: Oid, size: number): Promise<boolean> {
  if (size > MAX_COMPARED_BYTES) {
    const [theirs, ours] = [await digest(received, oid), await digest(store, oid)];
    return theirs.equals(ours);
  }
  const [theirs, ours] = [await received.read(oid), await store.read(oid)];
  return theirs.type === ours.type && Buffer.compare(theirs.data, ours.data) === 0;
}

async function digest(store: PackStore, oid: Oid): Promise<Buffer> {
  const { type, size, content } = await streamObject(store, oid);
  const sha = createHash('sha256').update(`${type} ${size}\0`);
  for await (const bytes of content) sha.update(bytes);
  return sha.digest();
}

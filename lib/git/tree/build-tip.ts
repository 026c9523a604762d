import { batchMisses } from '../batch-misses.ts';
import { sealDerived } from '../derived.ts';
import type { DerivedBuilder } from '../maintenance/derived-builder.ts';
import { ObjectMissing } from '../objects.ts';
import { EMPTY_TREE, type Oid, oidFromBytes } from '../oid.ts';
import type { PackStore } from '../pack/store.ts';
import { parseCommitLinks, TreeCursor } from '../parse.ts';
import { canonicalMode, DIRECTORY, readTreeBytes } from './entry.ts';
import { type BlobLocation, encodeTip, MAX_TIP_BYTES, namesIn } from './tip-listing.ts';

/** Trees or blobs per turn of the event loop. */
const BATCH_SIZE = 500;

/** Builds the listing of the default branch's tip; an empty one if there is no tip, or it is too large. */
export const tipBuilder: DerivedBuilder = {
  kind: 'tip',
  build: async ({ store, refs }) => {
    const head = await refs.head();
    const tip = (await refs.get([head])).get(head);
    const listing = tip && (await listTip(store, tip.peeled ?? tip.oid));
    return {
      content: sealDerived(listing ?? encodeTip(new Map(), () => NOWHERE)),
      note: listing && tip ? tip.oid : '',
    };
  },
};

const NOWHERE: BlobLocation = { pack: '', offset: 0, size: 0 };

/** @returns undefined when it is too large. @throws ObjectMissing, CorruptData */
async function listTip(store: PackStore, commit: Oid): Promise<Uint8Array | undefined> {
  const root = await store.run((objects) => parseCommitLinks(objects.read(commit).data).tree);
  const trees = await treesBelow(store, root);
  if (trees === undefined) return undefined;
  const names = namesIn(trees.values());
  const found: BlobLocation[] = [];
  while (found.length < names.count) {
    const slice = Array.from(
      { length: Math.min(BATCH_SIZE, names.count - found.length) },
      (_, i) => found.length + i,
    );
    const located = await store.run((objects) =>
      batchMisses(slice, (i): BlobLocation => {
        if (!objects.locate(names.names, 20 * i)) throw new ObjectMissing(oidFromBytes(names.names, 20 * i));
        const { pack, offset } = objects;
        return { pack: pack.description.id, offset, size: objects.headerAt(pack, offset).size };
      }),
    );
    found.push(...located);
  }
  let next = 0;
  return encodeTip(trees, () => found[next++]!);
}

/** All distinct trees by id; undefined when they are too large. */
async function treesBelow(store: PackStore, root: Oid): Promise<Map<Oid, Uint8Array> | undefined> {
  const trees = new Map<Oid, Uint8Array>();
  let bytes = 0;
  for (let level = root === EMPTY_TREE ? [] : [root]; level.length > 0; ) {
    const slice = level.slice(0, BATCH_SIZE);
    const read = await store.run((objects) => batchMisses(slice, (oid) => readTreeBytes(objects, oid)));
    const below = new Set(level.slice(BATCH_SIZE));
    for (const [i, data] of read.entries()) {
      trees.set(slice[i]!, data);
      bytes += data.length;
      if (bytes > MAX_TIP_BYTES) return undefined;
      for (const cursor = new TreeCursor(data); cursor.next(); ) {
        if (canonicalMode(cursor.mode) !== DIRECTORY) continue;
        const oid = oidFromBytes(data, cursor.oidStart);
        if (oid !== EMPTY_TREE && !trees.has(oid)) below.add(oid);
      }
    }
    level = [...below].filter((oid) => !trees.has(oid));
  }
  return trees;
}

import { batchMisses, readAhead } from './batch-misses.ts';
import { repack } from './maintenance/repack.ts';
import { ObjectMissing, SMALL_BLOB_BYTES } from './objects.ts';
import { EMPTY_TREE, type Oid, oidBytes, oidFromBytes } from './oid.ts';
import { discardContent } from './pack/content.ts';
import { BLOB, COMMIT, TAG, TREE, typeCode } from './pack/entry.ts';
import { NameTable } from './pack/name-table.ts';
import { ObjectList } from './pack/object-list.ts';
import type { Pack } from './pack/pack-cache.ts';
import type { PackObjects } from './pack/pack-objects.ts';
import type { PackStore } from './pack/store.ts';
import { walkTree } from './pack/tree-walk.ts';
import { parseCommitLinks, parseTag } from './parse.ts';
import type { ObjectDatabase, PackDescription } from './ports.ts';
import { nextTurn } from './work.ts';

/** Objects prefetched together after a miss. */
const READ_AHEAD = 64;
const SLICE_MS = 30;
/** More objects than this are left to a garbage collection, which has more time; they count as missing until then. */
const MAX_OBJECTS = 500_000;

/**
 * Copies the objects that `tips` reach and that only unreachable-garbage packs hold into a pack of their own. Must be
 * done before a ref, or an object in another pack, refers to the tips, because garbage packs may be deleted soon.
 *
 * An object in any other pack has everything it reaches in such packs too, so the walk stops there.
 *
 * @returns the pack, stored but not listed, for the transaction that makes the tips reachable; undefined when there is
 *   nothing to resurrect
 * @throws ObjectMissing when a tip, or an object it reaches, does not exist, or when there are too many; CorruptData
 */
export async function resurrect(
  {
    objects,
    store,
    maxResurrected = MAX_OBJECTS,
    onSmallBlob,
  }: {
    readonly objects: ObjectDatabase;
    readonly store: PackStore;
    readonly maxResurrected?: number;
    /** Called with every copied blob of at most {@link SMALL_BLOB_BYTES}, before anything is stored. */
    readonly onSmallBlob?: ((data: Uint8Array) => void) | undefined;
  },
  tips: readonly Oid[],
): Promise<PackDescription | undefined> {
  const notLive = await store.missing(Buffer.concat(tips.map(oidBytes)), { garbage: false });
  if (notLive.length === 0) return undefined;
  const list = await garbageReachableFrom(store, notLive, maxResurrected);
  const { content, objectCount } = await repack(store, list);
  try {
    if (onSmallBlob !== undefined) await showSmallBlobs(store, list, onSmallBlob);
    return await objects.newPack(content, { source: 'insert', objectCount });
  } finally {
    await discardContent(content);
  }
}

async function showSmallBlobs(
  store: PackStore,
  list: ObjectList,
  show: (data: Uint8Array) => void,
): Promise<void> {
  const blobs = Array.from({ length: list.count }, (_, i) => i).filter((i) => list.types[i] === BLOB);
  for (let i = 0; i < blobs.length; i += READ_AHEAD) {
    const oids = blobs.slice(i, i + READ_AHEAD).map((n) => list.oid(n));
    const sizes = await store.run((objects) => batchMisses(oids, (oid) => objects.header(oid).size));
    const small = oids.filter((_, n) => sizes[n]! <= SMALL_BLOB_BYTES);
    const read = await store.run((objects) => batchMisses(small, (oid) => objects.read(oid).data));
    for (const data of read) show(data);
    await nextTurn();
  }
}

/** The tips and what they reach, as far as only garbage packs hold it. */
async function garbageReachableFrom(
  store: PackStore,
  tips: readonly Oid[],
  max: number,
): Promise<ObjectList> {
  const walk = new GarbageWalk(tips);
  while (!(await store.run((objects) => walk.advance(objects)))) {
    if (walk.list.count > max) throw new ObjectMissing(tips[0]!);
    await nextTurn();
  }
  if (walk.list.count > max) throw new ObjectMissing(tips[0]!);
  return walk.list;
}

interface Pending {
  /** 20 bytes. */
  readonly name: Uint8Array;
  /** Type code; 0 when not known. */
  readonly type: number;
}

/** Keeps its state across synchronous runs: a step that misses blocks changes nothing and is repeated. */
class GarbageWalk {
  readonly list = new ObjectList();
  readonly #seen = new NameTable();
  /** Still to be visited. */
  readonly #waiting: Pending[] = [];

  constructor(tips: readonly Oid[]) {
    for (const tip of tips) this.#enqueue(oidBytes(tip), 0);
  }

  /** Works for some milliseconds. @returns whether it is done */
  advance(objects: PackObjects): boolean {
    const until = performance.now() + SLICE_MS;
    for (;;) {
      const top = this.#waiting.at(-1);
      if (top === undefined) return true;
      const others = () => this.#waiting.slice(-READ_AHEAD, -1);
      const found = readAhead(top, others, (met) => findGarbage(objects, met));
      this.#waiting.pop();
      if (found !== undefined) {
        this.list.add(top.name, 0, found.type, found.pack, found.position);
        for (const { name, type } of found.links) this.#enqueue(name, type);
      }
      if (performance.now() > until) return false;
    }
  }

  #enqueue(name: Uint8Array, type: number): void {
    const before = this.#seen.count;
    if (this.#seen.add(name, 0) === before) this.#waiting.push({ name, type });
  }
}

interface GarbageObject {
  readonly type: number;
  readonly pack: Pack;
  readonly position: number;
  readonly links: readonly Pending[];
}

/** @returns undefined for an object in any other pack. @throws ObjectMissing */
function findGarbage(objects: PackObjects, { name, type }: Pending): GarbageObject | undefined {
  if (objects.locate(name, 0, objects.liveCount)) return undefined;
  if (!objects.locate(name, 0)) {
    const oid = oidFromBytes(name, 0);
    if (oid === EMPTY_TREE) return undefined;
    throw new ObjectMissing(oid);
  }
  const { pack, position } = objects;
  const offset = pack.index.offset(position);
  const kind = type === 0 ? typeCode(objects.headerAt(pack, offset).type) : type;
  // A blob may be large, and refers to nothing.
  const links = kind === BLOB ? [] : linksOf(kind, objects.readAt(pack, offset).data);
  return { type: kind, pack, position, links };
}

function linksOf(type: number, data: Uint8Array): Pending[] {
  if (type === TAG) return [{ name: oidBytes(parseTag(data).object), type: 0 }];
  if (type === COMMIT) {
    const { tree, parents } = parseCommitLinks(data);
    return [
      ...parents.map((parent) => ({ name: oidBytes(parent), type: COMMIT })),
      { name: oidBytes(tree), type: TREE },
    ];
  }
  const entries: Pending[] = [];
  walkTree(data, undefined, (bytes, at, kind) => {
    entries.push({ name: new Uint8Array(bytes.subarray(at, at + 20)), type: kind });
  });
  return entries;
}

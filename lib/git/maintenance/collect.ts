import { decodeTime } from 'ulid';
import { type Oid, oidBytes } from '../oid.ts';
import { BLOB } from '../pack/entry.ts';
import { ObjectList } from '../pack/object-list.ts';
import type { Pack } from '../pack/pack-cache.ts';
import type { PackStore } from '../pack/store.ts';
import type { MaintainedObjects, PackDescription, PackSource } from '../ports.ts';
import { enumerate } from '../reachable.ts';
import type { RefDatabase } from '../ref-database.ts';
import { refTips } from '../ref-tips.ts';
import { nextTurn } from '../work.ts';
import { replace, storeOver } from './compact.ts';
import { loadIndexes, type RepackOptions, repackInto } from './repack.ts';

export interface CollectOptions extends RepackOptions {
  /** The epoch after it was raised for this collection, before anything was read. */
  readonly epoch: number;
  readonly now: Date;
  /** A larger pack is split into several. Default 256 MiB. */
  readonly packBytes?: number;
}

export interface Collected {
  /** Objects that no ref reaches any more. */
  readonly garbage: number;
  /** Objects of garbage packs that are reachable again. */
  readonly resurrected: number;
}

/** Unreachable objects stay readable for this time, for writers that still use them and to undo mistakes. */
export const GARBAGE_MS = 14 * 24 * 3600_000;
/** Each takes about 150 bytes of memory; a repository with more objects is not collected. */
const MAX_OBJECTS = 4_000_000;
/** Writes in one transaction: one per new pack, two per replaced pack. */
const MAX_WRITES = 90;

/**
 * Garbage collection: separates reachable from unreachable objects. Reachable commits, trees and tags go into one pack,
 * reachable blobs into another, the rest into unreachable-garbage packs. Those stay listed and readable, count as
 * missing for new writes, and are removed by a collection two weeks later at the earliest.
 *
 * Inherited packs are read but never replaced, whether their objects are reachable or not.
 *
 * The epoch was raised before, and is raised again with the swap. So a writer that moves a ref has read the packs
 * either after the swap, when garbage counts as missing, or during this collection. Objects that the latter made
 * reachable are resurrected at the end.
 *
 * May be stopped at any step: only objects that are stored again are unlisted, and the next collection resurrects.
 * @returns undefined when there are too many objects or packs
 * @throws PacksChanged, ObjectMissing when a reachable object does not exist, CorruptData, I/O errors
 */
export async function collect(
  objects: MaintainedObjects,
  refs: RefDatabase,
  options: CollectOptions,
): Promise<Collected | undefined> {
  // In this order: refs that are read later reach the objects of packs that were listed before.
  const inputs = await objects.listPacks({ fresh: true });
  const live = inputs.filter(isLive);
  if (live.reduce((sum, { objectCount }) => sum + objectCount, 0) > MAX_OBJECTS) return undefined;
  const tipsAtStart = await tips(refs);
  const store = storeOver(objects, await objects.listPacks({ fresh: true }));
  const reached = await enumerate(store, { include: tipsAtStart });
  await addPinned(store, refs, reached, tipsAtStart);
  const locations = new ObjectLocations(reached, inputs);
  await locations.preferLive(store);

  const own = live.filter(isOwn);
  const packs = (await store.packs()).filter(({ description }) =>
    own.some(({ id }) => id === description.id),
  );
  await loadIndexes(store, packs);
  const garbage = await unreachableIn(packs, reached);
  const old = inputs.filter((pack) => isOwn(pack) && !isLive(pack) && isExpired(pack, options.now));
  const resurrected = locations.select(({ source }) => source === 'unreachable-garbage');
  const reachable = garbage.count === 0 ? resurrected : locations.select(isOwn);

  const add = async (list: ObjectList, source: PackSource): Promise<PackDescription[]> => {
    const added: PackDescription[] = [];
    await loadIndexes(store, list.packs);
    for (const part of parts(list, options.packBytes ?? 256 * 2 ** 20)) {
      added.push(await repackInto(objects, store, part, source, options));
    }
    return added;
  };
  const added = [
    ...(await add(
      ofType(reachable, (type) => type !== BLOB),
      'gc',
    )),
    ...(await add(
      ofType(reachable, (type) => type === BLOB),
      'gc',
    )),
    ...(await add(garbage, 'unreachable-garbage')),
  ];
  const replaced = [...(garbage.count === 0 ? [] : own), ...old];
  if (added.length + 2 * replaced.length > MAX_WRITES) {
    for (const pack of added) await objects.rollbackPack(pack);
    return undefined;
  }
  if (added.length + replaced.length === 0) return { garbage: 0, resurrected: 0 };
  await replace(objects, added, replaced, { epoch: options.epoch });
  const late = garbage.count === 0 ? 0 : await resurrectLate(objects, refs, reached, tipsAtStart, options);
  return { garbage: garbage.count, resurrected: resurrected.count + late };
}

/** Adds what pinned commits reach; most of them are reachable from refs already. */
async function addPinned(
  store: PackStore,
  refs: RefDatabase,
  reached: ObjectList,
  tipsAtStart: readonly Oid[],
): Promise<void> {
  const pinned = await unreachedPinned(refs, reached);
  // Commits pushed since the packs were listed are handled at the end, like refs that moved meanwhile.
  const pushedSince = new Set(await store.missing(Buffer.concat(pinned.map(oidBytes))));
  const include = pinned.filter((oid) => !pushedSince.has(oid));
  if (include.length === 0) return;
  const more = await enumerate(store, { include, exclude: tipsAtStart });
  for (let i = 0; i < more.count; i++) addFrom(reached, more, i);
}

/** Pinned objects that are not in the list: at most as many as the repository has objects. */
async function unreachedPinned(refs: RefDatabase, reached: ObjectList): Promise<Oid[]> {
  const pinned: Oid[] = [];
  for await (const oid of refs.pinned()) if (!isReached(reached, oid)) pinned.push(oid);
  return pinned;
}

/** Whether the list has it with what it reaches: a tree may name any object as a file. */
function isReached(reached: ObjectList, oid: Oid): boolean {
  const i = reached.indexOf(oidBytes(oid), 0);
  return i >= 0 && reached.types[i] !== BLOB;
}

/**
 * Resurrects what is reachable from refs that moved and from commits that were pinned during the collection, and that
 * only garbage packs hold.
 */
async function resurrectLate(
  objects: MaintainedObjects,
  refs: RefDatabase,
  reached: ObjectList,
  tipsAtStart: readonly Oid[],
  options: CollectOptions,
): Promise<number> {
  const moved = (await tips(refs)).filter((oid) => !isReached(reached, oid));
  moved.push(...(await unreachedPinned(refs, reached)));
  if (moved.length === 0) return 0;
  const inputs = await objects.listPacks({ fresh: true });
  const store = storeOver(objects, inputs);
  const locations = new ObjectLocations(
    await enumerate(store, { include: moved, exclude: tipsAtStart }),
    inputs,
  );
  await locations.preferLive(store);
  const list = locations.select(({ source }) => source === 'unreachable-garbage');
  if (list.count === 0) return 0;
  await replace(objects, [await repackInto(objects, store, list, 'gc', options)], []);
  return list.count;
}

const isLive = ({ source }: PackDescription) => source !== 'unreachable-garbage';
const isOwn = ({ inherited }: PackDescription) => inherited !== true;
const isExpired = ({ id }: PackDescription, now: Date) => decodeTime(id) + GARBAGE_MS <= now.getTime();

async function tips(refs: RefDatabase): Promise<Oid[]> {
  return [...(await refTips((await refs.view()).refs()))];
}

/** The locations of a list's objects. */
class ObjectLocations {
  readonly #list: ObjectList;
  readonly #inputs: ReadonlySet<string>;
  /** Objects whose first location is a garbage pack, and that another pack has too. */
  readonly #better = new Map<number, { readonly pack: Pack; readonly position: number }>();

  constructor(list: ObjectList, inputs: readonly PackDescription[]) {
    this.#list = list;
    this.#inputs = new Set(inputs.map(({ id }) => id));
  }

  async preferLive(store: PackStore): Promise<void> {
    const list = this.#list;
    let i = 0;
    await store.run((objects) => {
      for (; i < list.count; i++) {
        const pack = list.packs[list.packOf[i]!];
        if (pack?.description.source !== 'unreachable-garbage') continue;
        if (objects.locate(list.names, 20 * i, objects.liveCount)) {
          this.#better.set(i, { pack: objects.pack, position: objects.position });
        }
      }
    });
  }

  /** Objects in the wanted packs. Leaves out objects in packs that were pushed since the start. */
  select(wanted: (pack: PackDescription) => boolean): ObjectList {
    const list = this.#list;
    const chosen = new ObjectList();
    for (let i = 0; i < list.count; i++) {
      const first = list.packs[list.packOf[i]!];
      if (first === undefined) continue;
      const { pack, position } = this.#better.get(i) ?? { pack: first, position: list.positions[i]! };
      if (!this.#inputs.has(pack.description.id) || !wanted(pack.description)) continue;
      chosen.add(list.names, 20 * i, list.types[i]!, pack, position);
    }
    return chosen;
  }
}

/** Objects of the packs that are not in `reached`. */
async function unreachableIn(packs: readonly Pack[], reached: ObjectList): Promise<ObjectList> {
  const garbage = new ObjectList();
  for (const pack of packs) {
    const { names, count } = pack.index.whole();
    for (let position = 0; position < count; position++) {
      if (reached.indexOf(names, 20 * position) < 0) garbage.add(names, 20 * position, 0, pack, position);
    }
    await nextTurn();
  }
  return garbage;
}

function ofType(list: ObjectList, wanted: (type: number) => boolean): ObjectList {
  const chosen = new ObjectList();
  for (let i = 0; i < list.count; i++) if (wanted(list.types[i]!)) addFrom(chosen, list, i);
  return chosen;
}

function addFrom(target: ObjectList, list: ObjectList, i: number): void {
  target.add(list.names, 20 * i, list.types[i]!, list.packs[list.packOf[i]!], list.positions[i]!);
}

/** Splits a list, in order, into parts of about this size. A delta whose base is in another part is stored whole. */
function* parts(list: ObjectList, bytes: number): Generator<ObjectList> {
  let part = new ObjectList();
  let size = 0;
  for (let i = 0; i < list.count; i++) {
    const sorted = list.packs[list.packOf[i]!]!.index.sortedOffsets();
    const rank = sorted.ranks[list.positions[i]!]!;
    size += sorted.offsets[rank + 1]! - sorted.offsets[rank]!;
    addFrom(part, list, i);
    if (size < bytes) continue;
    yield part;
    part = new ObjectList();
    size = 0;
  }
  if (part.count > 0) yield part;
}

import { setImmediate } from 'node:timers/promises';
import { decodeTime } from 'ulid';
import { type Oid, oidBytes } from '../oid.ts';
import { BLOB } from '../pack/entry.ts';
import { ObjectList } from '../pack/object-list.ts';
import type { Pack } from '../pack/pack-cache.ts';
import type { PackStore } from '../pack/store.ts';
import type { MaintainedObjects, PackDescription, PackSource, RefDatabase } from '../ports.ts';
import { enumerate } from '../reachable.ts';
import { refTips } from '../ref-tips.ts';
import { replace, storeOver } from './compact.ts';
import { loadIndexes, type RepackOptions, repackInto } from './repack.ts';

export interface CollectOptions extends RepackOptions {
  /** As it was raised for this collection, before anything was read. */
  readonly epoch: number;
  readonly now: Date;
  /** Larger packs are made several. Default 256 MiB. */
  readonly packBytes?: number;
}

export interface Collected {
  /** Objects that no ref reaches any more. */
  readonly garbage: number;
  /** Objects that lay in packs of garbage and are reached again. */
  readonly resurrected: number;
}

/** What is unreachable stays readable so long: for whoever still builds on it, and for second thoughts. */
export const GARBAGE_MS = 14 * 24 * 3600_000;
/** About 150 bytes of memory each; a repository with more is not collected. */
const MAX_OBJECTS = 4_000_000;
/** In one transaction: a new pack is one, a replaced one two. */
const MAX_WRITES = 90;

/**
 * Separates what refs reach from what they do not: commits, trees and tags into one pack, blobs into another, the rest
 * into packs of garbage, which stay listed and readable, count as missing for whatever is written from then on, and
 * leave the list in a collection two weeks later at the earliest.
 *
 * Inherited packs are read, and left as they are: what they hold is there, reached or not.
 *
 * The epoch was raised before, and is raised again with the swap. So whoever moves a ref has looked at the packs as
 * they were either after the swap, when garbage counts as missing, or within this collection. What those made
 * reachable is resurrected at the end.
 *
 * May be stopped at any step: nothing is unlisted that was not stored anew, and the next collection resurrects.
 * @returns undefined when there is too much to do it
 * @throws PacksChanged, ObjectMissing when something reachable is not there, CorruptData, I/O errors
 */
export async function collect(
  objects: MaintainedObjects,
  refs: RefDatabase,
  options: CollectOptions,
): Promise<Collected | undefined> {
  // In this order: refs read later reach what the packs listed earlier were pushed for.
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
  const kept = garbage.count === 0 ? resurrected : locations.select(isOwn);

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
      ofType(kept, (type) => type !== BLOB),
      'gc',
    )),
    ...(await add(
      ofType(kept, (type) => type === BLOB),
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

/** Adds to what refs reach what kept commits do: of a million, most lie on branches. */
async function addPinned(
  store: PackStore,
  refs: RefDatabase,
  reached: ObjectList,
  tipsAtStart: readonly Oid[],
): Promise<void> {
  const kept = await unreachedPinned(refs, reached);
  // Those that were pushed since the packs were listed are for the end, as refs that move meanwhile.
  const young = new Set(await store.missing(Buffer.concat(kept.map(oidBytes))));
  const include = kept.filter((oid) => !young.has(oid));
  if (include.length === 0) return;
  const more = await enumerate(store, { include, exclude: tipsAtStart });
  for (let i = 0; i < more.count; i++) addFrom(reached, more, i);
}

/** What is kept and not in the list: no more than the repository has objects. */
async function unreachedPinned(refs: RefDatabase, reached: ObjectList): Promise<Oid[]> {
  const kept: Oid[] = [];
  for await (const oid of refs.pinned()) if (reached.indexOf(oidBytes(oid), 0) < 0) kept.push(oid);
  return kept;
}

/** What refs that moved, and commits that were kept, during the collection reach, and only packs of garbage hold, is stored anew. */
async function resurrectLate(
  objects: MaintainedObjects,
  refs: RefDatabase,
  reached: ObjectList,
  tipsAtStart: readonly Oid[],
  options: CollectOptions,
): Promise<number> {
  const moved = (await tips(refs)).filter((oid) => reached.indexOf(oidBytes(oid), 0) < 0);
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

/** Where each object of a list lies. */
class ObjectLocations {
  readonly #list: ObjectList;
  readonly #inputs: ReadonlySet<string>;
  /** Objects that were found in a pack of garbage first, and lie in another one too. */
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

  /** Objects in such packs. What lies in a pack that was pushed meanwhile stays there and is left out. */
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

/** What the packs hold and the list does not. */
async function unreachableIn(packs: readonly Pack[], reached: ObjectList): Promise<ObjectList> {
  const garbage = new ObjectList();
  for (const pack of packs) {
    const { names, count } = pack.index.whole();
    for (let position = 0; position < count; position++) {
      if (reached.indexOf(names, 20 * position) < 0) garbage.add(names, 20 * position, 0, pack, position);
    }
    await setImmediate();
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

/** In order, about as large as asked: a delta whose base is in another part is stored whole. */
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

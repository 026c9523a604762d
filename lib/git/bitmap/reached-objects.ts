import { CorruptData } from '../corrupt-data.ts';
import { loadIndexes } from '../maintenance/repack.ts';
import { ObjectMissing } from '../objects.ts';
import { EMPTY_TREE, type Oid, oidBytes } from '../oid.ts';
import { BLOB } from '../pack/entry.ts';
import { ObjectList } from '../pack/object-list.ts';
import { sameName } from '../pack/object-names.ts';
import type { Pack } from '../pack/pack-cache.ts';
import type { PackObjects } from '../pack/pack-objects.ts';
import type { PackStore } from '../pack/store.ts';
import type { EnumerateOptions } from '../reachable/options.ts';
import { nextTurn } from '../work.ts';
import { ClosureWalk } from './closure-walk.ts';
import { Numbering, ObjectSet } from './object-set.ts';
import { type OpenedBitmap, openBitmap } from './open.ts';

const SLICE_MS = 30;
/** If less than 1/50 of a pack is wanted, its objects are looked up one by one. */
const SPARSE_SHARE = 50;

/** Whether a bitmap can answer the request: it supports neither shallow histories nor filters of trees and commits. */
export function suitsBitmap({ shallow, excludeShallow, filter }: Omit<EnumerateOptions, 'include'>): boolean {
  const ofBlobs = filter?.treeDepth === undefined && filter?.omit === undefined;
  return ofBlobs && !shallow?.size && !excludeShallow?.size;
}

/**
 * The result of `enumerate`, from stored closures; what they do not cover is walked.
 * @returns undefined when there is no usable bitmap
 * @throws ObjectMissing, CorruptData
 */
export async function reachedObjects(
  store: PackStore,
  options: EnumerateOptions,
): Promise<ObjectList | undefined> {
  const opened = await openBitmap(store);
  if (opened === undefined) return undefined;
  const { index, bitmap } = opened;
  const numbers = new Numbering(index, bitmap.types);
  const [wants, haves] = [new ObjectSet(index.count), new ObjectSet(index.count)];
  const walks = [
    new ClosureWalk(numbers, bitmap.closures, haves, options.exclude ?? [], { lenient: true }),
    new ClosureWalk(numbers, bitmap.closures, wants, options.include, { beside: haves }),
  ];
  try {
    for (const walk of walks) {
      while (!(await store.run((objects) => walk.advance(objects), walk))) await nextTurn();
    }
    wants.removeAll(haves);
    if (options.filter?.blobLimit === 0) {
      wants.removeIf((number) => numbers.type(number) === BLOB, bitmap.types.blobs);
      // The filter does not apply to objects that are requested by id.
      for (const oid of options.include) {
        const number = numbers.known(oidBytes(oid), 0);
        if (number >= 0 && !haves.has(number)) wants.add(number);
      }
    }
    const list = await place(store, opened, numbers, wants, options);
    list.receiverHas = (name, at) => {
      const number = numbers.known(name, at);
      return number >= 0 && haves.has(number);
    };
    return list;
  } catch (error) {
    if (!(error instanceof CorruptData)) throw error;
    if (error.code === 'derived-file') store.derived('bitmap')?.markUnusable(error);
    // A walk can do with what is named as one of two types.
    else if (error.code !== 'object-malformed') throw error;
    return undefined;
  }
}

/** Finds the location of each object. */
async function place(
  store: PackStore,
  { index }: OpenedBitmap,
  numbers: Numbering,
  wants: ObjectSet,
  { filter, include }: EnumerateOptions,
): Promise<ObjectList> {
  const listed = new Map((await store.packs()).map((pack) => [pack.description.id, pack]));
  const packs = index.packs.map((id) => listed.get(id));
  const counts = new Uint32Array(packs.length);
  wants.bits.forEach((number) => {
    counts[index.packOf[index.order[number]!]!]!++;
  });
  const scanned = packs.map((pack, i) =>
    pack && counts[i]! * SPARSE_SHARE > pack.index.count ? pack : undefined,
  );
  await loadIndexes(
    store,
    scanned.filter((pack) => pack !== undefined),
  );

  // Of 0, the wants have no other blobs any more.
  const limit = filter?.blobLimit === 0 ? undefined : filter?.blobLimit;
  const asked = new Set(limit === undefined ? [] : include);
  const placing = new Placing(numbers, scanned);
  const todo: number[] = [];
  wants.forEach((number) => {
    todo.push(number);
  });
  let next = 0;
  const step = (objects: PackObjects): boolean => {
    const until = performance.now() + SLICE_MS;
    for (; next < todo.length; next++) {
      if ((next & 1023) === 1023 && performance.now() > until) return false;
      placing.find(objects, todo[next]!);
      if (limit !== undefined && placing.type === BLOB && placing.pack) {
        const offset = placing.pack.index.offset(placing.position);
        const { size } = objects.headerAt(placing.pack, offset);
        if (size >= limit && !asked.has(numbers.oid(todo[next]!))) continue;
      }
      placing.add();
    }
    return true;
  };
  const scan = todo.length > 20_000;
  while (!(await store.run(step, { scan }))) await nextTurn();
  return placing.list;
}

class Placing {
  readonly list = new ObjectList();
  pack: Pack | undefined;
  position = 0;
  type = 0;
  readonly #numbers: Numbering;
  readonly #packs: readonly (Pack | undefined)[];
  /** The pack that is scanned now: its number in the merged index, the pack, and its tables. */
  #number = -1;
  #passing: Pack | undefined;
  #offsets: Float64Array = new Float64Array(0);
  #positions: Uint32Array = new Uint32Array(0);
  #packNames: Uint8Array = new Uint8Array(0);
  #rank = 0;
  #names: Uint8Array = new Uint8Array(0);
  #at = 0;

  constructor(numbers: Numbering, packs: readonly (Pack | undefined)[]) {
    this.#numbers = numbers;
    this.#packs = packs;
  }

  /** Must be called with ascending numbers, so that the objects of a pack come in the order of its entries. */
  find(objects: PackObjects, number: number): void {
    const numbers = this.#numbers;
    const { index } = numbers;
    this.type = numbers.type(number);
    if (number < index.count) {
      const row = index.order[number]!;
      this.#names = index.names;
      this.#at = 20 * row;
      if (index.packOf[row] !== this.#number) this.#pass(index.packOf[row]!);
      if (this.#passing) {
        const offset = index.offsets[row]!;
        while (this.#offsets[this.#rank]! < offset) this.#rank++;
        this.pack = this.#passing;
        this.position = this.#positions[this.#rank] ?? -1;
        if (this.position < 0 || !sameName(this.#packNames, 20 * this.position, this.#names, this.#at))
          throw new CorruptData('derived-file', 'merged index and pack differ');
        return;
      }
    } else {
      this.#names = numbers.names(number);
      this.#at = 20 * numbers.row(number);
    }
    this.#lookUp(objects, number);
  }

  add(): void {
    this.list.add(this.#names, this.#at, this.type, this.pack, this.position);
  }

  #pass(number: number): void {
    this.#number = number;
    this.#passing = this.#packs[number];
    this.#rank = 0;
    if (this.#passing === undefined) return;
    const { index } = this.#passing;
    ({ offsets: this.#offsets, positions: this.#positions } = index.sortedOffsets());
    this.#packNames = index.whole().names;
  }

  #lookUp(objects: PackObjects, number: number): void {
    if (objects.locate(this.#names, this.#at)) {
      this.pack = objects.pack;
      this.position = objects.position;
      return;
    }
    const oid: Oid = this.#numbers.oid(number);
    if (oid !== EMPTY_TREE) throw new ObjectMissing(oid);
    this.pack = undefined;
    this.position = 0;
  }
}

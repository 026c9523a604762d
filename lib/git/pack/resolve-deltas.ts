import { CorruptData } from '../corrupt-data.ts';
import { applyDelta, applyDeltaInSteps, deltaSizes, isLargeDelta, sharedEnds } from './delta.ts';
import { COMMIT, OFS_DELTA, REF_DELTA, TAG, TREE, typeName } from './entry.ts';
import type { EntryTable } from './entry-table.ts';
import { HEADER_ROOM, type ObjectHasher } from './object-hasher.ts';
import { hashName, sameName } from './object-names.ts';
import type { SharedTree } from './tree-ends.ts';

export interface DeltaSource {
  /** The inflated content of an entry, a base or a delta. A view that is valid until the next call. */
  content(entry: number): Uint8Array;
}

export interface ResolveLimits {
  readonly maxObjectSize: number;
  readonly maxTextSize: number;
  readonly maxDeltaDepth: number;
  readonly memoryBytes: number;
  readonly maxInflatedBytes: number;
}

interface ResolvedObject {
  /** Content from {@link HEADER_ROOM} on. */
  readonly buffer: Buffer;
  readonly length: number;
  /** For a tree: what it has in common with its base. */
  readonly shared: SharedTree | undefined;
}

interface Frame {
  readonly entry: number;
  data: Uint8Array | undefined;
  /** The next child to resolve; the one with the most descendants comes last. */
  next: number;
  heavy: number;
}

/**
 * Resolves all deltas, depth first, with as few inflated objects in memory as possible: children with fewer descendants
 * come first, and a base is freed when its last child is resolved, so that only about log2(objects) bases are held at a
 * time.
 */
export class DeltaResolver {
  resolved = 0;
  /** Bytes resolved so far; limited, because a small pack can inflate to any size. */
  inflated = 0;
  readonly #table: EntryTable;
  readonly #source: DeltaSource;
  readonly #hasher: ObjectHasher;
  readonly #limits: ResolveLimits;
  readonly #firstChild: Int32Array;
  readonly #nextSibling: Int32Array;
  readonly #weight: Uint32Array;
  readonly #refs: RefDeltas | undefined;

  constructor(
    table: EntryTable,
    source: DeltaSource,
    hasher: ObjectHasher,
    limits: ResolveLimits,
    room: number,
  ) {
    this.#table = table;
    this.#source = source;
    this.#hasher = hasher;
    this.#limits = limits;
    const { count, stored, bases } = table;
    this.#firstChild = new Int32Array(count + room).fill(-1);
    this.#nextSibling = new Int32Array(count).fill(-1);
    this.#weight = new Uint32Array(count).fill(1);
    for (let entry = count - 1; entry >= 0; entry--) {
      if (stored[entry] !== OFS_DELTA) continue;
      const base = bases[entry]!;
      this.#nextSibling[entry] = this.#firstChild[base]!;
      this.#firstChild[base] = entry;
      this.#weight[base]! += this.#weight[entry]!;
    }
    this.#refs = table.baseNameCount > 0 ? new RefDeltas(table, this.#nextSibling) : undefined;
  }

  /**
   * Resolves all descendants of `root`, whose id and type are known.
   * A generator: yields from time to time, so that the caller can let other work run.
   */
  *resolveFrom(root: number): Generator<void> {
    this.#refs?.attach(root, this.#firstChild);
    if (this.#firstChild[root]! < 0) return;
    const table = this.#table;
    const type = table.types[root]!;
    const stack: Frame[] = [this.#frame(root, Uint8Array.from(this.#source.content(root)))];
    let held = stack[0]!.data!.length;
    while (stack.length > 0) {
      const frame = stack[stack.length - 1]!;
      const child = this.#take(frame);
      if (child < 0) {
        held -= frame.data?.length ?? 0;
        stack.pop();
        continue;
      }
      if (stack.length > this.#limits.maxDeltaDepth) {
        throw new CorruptData('delta-too-deep', `delta chain longer than ${this.#limits.maxDeltaDepth}`);
      }
      const before = frame.data?.length ?? 0;
      const base = (frame.data ??= yield* this.#rebuild(stack));
      held += base.length - before;
      const made = yield* this.#apply(base, child, type);
      yield* this.#hasher.nameInTurns(table, child, type, made.buffer, made.length, made.shared);
      this.resolved++;
      this.#refs?.attach(child, this.#firstChild);
      if (frame.next < 0 && frame.heavy < 0) {
        held -= base.length;
        frame.data = undefined;
      }
      if (this.#firstChild[child]! >= 0) {
        const data = Uint8Array.prototype.slice.call(made.buffer, HEADER_ROOM, HEADER_ROOM + made.length);
        held += data.length;
        stack.push(this.#frame(child, data));
        for (let i = 0; held > this.#limits.memoryBytes && i < stack.length - 1; i++) {
          held -= stack[i]!.data?.length ?? 0;
          stack[i]!.data = undefined;
        }
      }
      if ((this.resolved & 63) === 0 || made.length > LARGE) yield;
    }
  }

  /** Ids of REF_DELTA bases that are not in the pack, for which deltas still wait. */
  waiting(): Uint8Array {
    return this.#refs?.waiting() ?? new Uint8Array(0);
  }

  /** Whether deltas still wait for the id at `names[at]`. */
  isWaiting(names: Uint8Array, at: number): boolean {
    return this.#refs?.isWaiting(names, at) ?? false;
  }

  #frame(entry: number, data: Uint8Array): Frame {
    let heavy = -1;
    let most = 0;
    for (let child = this.#firstChild[entry]!; child >= 0; child = this.#nextSibling[child]!) {
      if (this.#weight[child]! > most) {
        most = this.#weight[child]!;
        heavy = child;
      }
    }
    return { entry, data, next: this.#firstChild[entry]!, heavy };
  }

  #take(frame: Frame): number {
    if (frame.next === frame.heavy && frame.next >= 0) frame.next = this.#nextSibling[frame.next]!;
    const child = frame.next;
    if (child >= 0) {
      frame.next = this.#nextSibling[child]!;
      if (frame.next === frame.heavy && frame.next >= 0) frame.next = this.#nextSibling[frame.next]!;
      return child;
    }
    const last = frame.heavy;
    frame.heavy = -1;
    return last;
  }

  /** Recomputes the freed content of the top frame, from the nearest frame below that still has its content. */
  *#rebuild(stack: readonly Frame[]): Generator<void, Uint8Array> {
    let from = stack.length - 1;
    while (from > 0 && !stack[from]!.data) from--;
    let data = stack[from]!.data ?? Uint8Array.from(this.#source.content(stack[from]!.entry));
    for (let i = from + 1; i < stack.length; i++) {
      const made = yield* this.#apply(data, stack[i]!.entry, 0);
      data = Uint8Array.prototype.slice.call(made.buffer, HEADER_ROOM, HEADER_ROOM + made.length);
    }
    return data;
  }

  *#apply(base: Uint8Array, entry: number, type: number): Generator<void, ResolvedObject> {
    const delta = this.#source.content(entry);
    const sizes = deltaSizes(delta);
    const { maxObjectSize, maxTextSize } = this.#limits;
    const limit = type === COMMIT || type === TAG ? maxTextSize : maxObjectSize;
    if (sizes.result > limit) {
      const what = limit === maxObjectSize ? 'object' : typeName(type);
      throw new CorruptData('object-too-large', `${what} of ${sizes.result} bytes; the limit is ${limit}`);
    }
    this.inflated += sizes.result;
    if (this.inflated > this.#limits.maxInflatedBytes)
      throw new CorruptData('limit', 'the deltas of the pack inflate to too much data');
    const buffer = this.#hasher.buffer(sizes.result);
    if (isLargeDelta(delta, sizes)) yield* applyDeltaInSteps(base, delta, sizes, buffer, HEADER_ROOM);
    else applyDelta(base, delta, sizes, buffer, HEADER_ROOM);
    const shared = type === TREE ? { base, ...sharedEnds(delta, sizes) } : undefined;
    return { buffer, length: sizes.result, shared };
  }
}

/** Bytes of an object from which it takes a noticeable part of a turn of the event loop. */
const LARGE = 1 << 20;

/** REF_DELTA entries by the id of their base, until that object is found. */
class RefDeltas {
  readonly #table: EntryTable;
  readonly #sibling: Int32Array;
  readonly #slots: Int32Array;
  readonly #mask: number;
  /** By slot: first waiting delta, or -1 once they were attached. */
  readonly #first: Int32Array;

  constructor(table: EntryTable, sibling: Int32Array) {
    this.#table = table;
    this.#sibling = sibling;
    let size = 16;
    while (size < 2 * table.baseNameCount) size *= 2;
    this.#mask = size - 1;
    this.#slots = new Int32Array(size);
    this.#first = new Int32Array(size).fill(-1);
    for (let entry = table.count - 1; entry >= 0; entry--) {
      if (table.stored[entry] !== REF_DELTA) continue;
      const number = table.bases[entry]!;
      const slot = this.#slot(table.baseNames, 20 * number);
      this.#slots[slot] ||= number + 1;
      sibling[entry] = this.#first[slot]!;
      this.#first[slot] = entry;
    }
  }

  /** Adds the deltas that waited for this entry's id as its children. */
  attach(entry: number, firstChild: Int32Array): void {
    const slot = this.#slot(this.#table.names, 20 * entry);
    const first = this.#first[slot]!;
    if (first < 0) return;
    this.#first[slot] = -1;
    let last = first;
    while (this.#sibling[last]! >= 0) last = this.#sibling[last]!;
    this.#sibling[last] = firstChild[entry]!;
    firstChild[entry] = first;
  }

  isWaiting(names: Uint8Array, at: number): boolean {
    return this.#first[this.#slot(names, at)]! >= 0;
  }

  waiting(): Uint8Array {
    const names: Uint8Array[] = [];
    for (let slot = 0; slot <= this.#mask; slot++) {
      if (this.#first[slot]! < 0) continue;
      const at = 20 * (this.#slots[slot]! - 1);
      names.push(this.#table.baseNames.subarray(at, at + 20));
    }
    return Buffer.concat(names.sort(Buffer.compare));
  }

  #slot(names: Uint8Array, at: number): number {
    let slot = hashName(names, at) & this.#mask;
    for (;;) {
      const number = this.#slots[slot]! - 1;
      if (number < 0 || sameName(this.#table.baseNames, 20 * number, names, at)) return slot;
      slot = (slot + 1) & this.#mask;
    }
  }
}

import { setImmediate } from 'node:timers/promises';
import { readAhead } from './gather.ts';
import { CorruptData, ObjectMissing } from './objects.ts';
import { EMPTY_TREE, type Oid, oidBytes, oidFromBytes } from './oid.ts';
import type { ReadAhead } from './pack/block-cache.ts';
import { CommitQueue } from './pack/commit-queue.ts';
import { BLOB, COMMIT, TREE, typeCode } from './pack/entry.ts';
import { resized } from './pack/entry-table.ts';
import { NameTable } from './pack/name-table.ts';
import { ObjectList } from './pack/object-list.ts';
import type { PackObjects } from './pack/pack-objects.ts';
import type { PackStore } from './pack/store.ts';
import { type EntryVisitor, type WalkedTree, walkTree } from './pack/tree-walk.ts';
import { parseCommitLinks, parseTag } from './parse.ts';

export interface EnumerateOptions {
  /** What must be complete: commits, tags, trees or blobs. */
  readonly include: readonly Oid[];
  /** What the receiver has, with all that it reaches. Ids that are not stored are passed over. */
  readonly exclude?: readonly Oid[];
  /** Commits whose parents are not to be sent. */
  readonly shallow?: ReadonlySet<Oid>;
  /** Commits below `exclude` whose parents the receiver does not have. */
  readonly excludeShallow?: ReadonlySet<Oid>;
  /** Objects to leave out (git-rev-list, `--filter`); what `include` names itself is sent all the same. */
  readonly filter?: ObjectFilter;
  readonly onProgress?: (objects: number) => void;
}

export type ObjectFilter =
  | { readonly kind: 'blob:none' }
  /** Blobs of `bytes` or more are left out. */
  | { readonly kind: 'blob:limit'; readonly bytes: number }
  /** Trees and blobs `depth` or more levels below a commit are left out; its root tree is at level 0. */
  | { readonly kind: 'tree'; readonly depth: number };

/**
 * The objects of `git rev-list --objects <include> --not <exclude>`, with where each is stored.
 * Never one that `include` does not reach.
 *
 * @throws ObjectMissing when the repository lacks something reachable; CorruptData
 */
export async function enumerate(store: PackStore, options: EnumerateOptions): Promise<ObjectList> {
  const walk = new Walk(options);
  for (;;) {
    const done = await store.run((objects) => walk.advance(objects), walk);
    if (done) return walk.result!;
    options.onProgress?.(walk.found);
    await setImmediate();
  }
}

const INTERESTING = 1;
const EXCLUDED = 2;
/** In the list, or waiting to be. */
const TAKEN = 4;
/** Excluded with everything below it. */
const CLOSED = 8;

const SLICE_MS = 30;
/** Stands for the path of root trees where 0 stands for none. */
const ROOT = 1;
/** Objects tried at once after a miss. */
const AHEAD = 128;
/** Trees kept to compare with. */
const BEFORE_BYTES = 24 * 1024 * 1024;
/** Excluded commits looked at beyond the last that dates call for: clocks are wrong at times. */
const SLOP = 64;

/** The walk's state outlives each synchronous run: a step that misses bytes leaves no trace and is done again. */
class Walk implements ReadAhead {
  result: ObjectList | undefined;
  readonly #options: EnumerateOptions;
  readonly #table = new NameTable();
  #flags = new Uint8Array(1024);
  /** By object number: index in the commit columns plus one. */
  #commitOf = new Int32Array(1024);
  readonly #commits: {
    id: number;
    tree: number;
    parents: number[];
    date: number;
    shallow: boolean;
    edge: boolean;
  }[] = [];
  readonly #queue = new CommitQueue();
  #waiting = 0;
  #oldest = Number.POSITIVE_INFINITY;
  #slop = SLOP;
  readonly #interesting: number[] = [];
  readonly #list = new ObjectList();
  /**
   * By path: the tree last read there, all of whose entries were met. Paths are hashes, and may stand for
   * each other: any tree whose entries were met serves, a similar one best.
   */
  readonly #before = new Map<number, WalkedTree>();
  #beforeBytes = 0;
  /** What `include` names besides commits: [number, type, ...]. */
  readonly #explicit: number[] = [];
  readonly #taken: number[] = [];
  readonly #takenTypes: number[] = [];
  readonly #takenPaths: number[] = [];
  /** By path: what the receiver has there. Kept where the receiver has something at all. */
  readonly #receiverAt = new Map<number, number>();
  #emptyTree: number | undefined;
  /** Trees yet to be read: [number, level, path, ...]. */
  readonly #trees: number[] = [];
  /** Trees that the receiver has, yet to be read: [number, path, ...]. */
  readonly #closing: number[] = [];
  readonly #levels: Map<number, number> | undefined;
  readonly #phases: ((objects: PackObjects) => boolean)[];
  #phase = 0;
  #at = 0;

  constructor(options: EnumerateOptions) {
    this.#options = options;
    if (options.filter?.kind === 'tree') this.#levels = new Map();
    this.#phases = [
      (objects) => this.#start(objects),
      (objects) => this.#walkCommits(objects),
      (objects) => this.#closeEdges(objects),
      (objects) => this.#takeTrees(objects),
      (objects) => this.#placeObjects(objects),
    ];
  }

  get found(): number {
    return this.#table.count;
  }

  // The more was read, the farther ahead it pays to read.
  get scan(): boolean {
    return this.#table.count > 20_000;
  }

  get around(): number {
    return this.#table.count > 50 ? 8 : 1;
  }

  /** Works for some milliseconds. @returns whether all is done. */
  advance(objects: PackObjects): boolean {
    const until = performance.now() + SLICE_MS;
    for (let steps = 0; this.#phase < this.#phases.length; steps++) {
      if ((steps & 63) === 63 && performance.now() > until) return false;
      const step = this.#phases[this.#phase]!;
      const done = readAhead(
        undefined,
        () => this.#ahead(),
        (id) => (id === undefined ? step(objects) : this.#touch(objects, id)),
      );
      if (done) {
        this.#phase++;
        this.#at = 0;
      }
    }
    this.result = this.#list;
    return true;
  }

  /** Numbers of objects that coming steps will read: what they miss is fetched together with what this one misses. */
  #ahead(): number[] {
    const ahead: number[] = [];
    const add = (id: number) => {
      if (ahead.length < AHEAD) ahead.push(id);
    };
    if (this.#phase === 1) {
      for (const index of this.#queue.waiting()) {
        for (const parent of this.#commits[index]!.parents) if (!this.#commitOf[parent]) add(parent);
      }
    } else if (this.#phase === 2) {
      for (let i = this.#closing.length - 2; i >= 0; i -= 2) add(this.#closing[i]!);
    } else if (this.#phase === 3) {
      for (let i = this.#trees.length - 3; i >= 0; i -= 3) add(this.#trees[i]!);
      for (let i = Math.max(0, this.#at - this.#explicit.length); i < this.#interesting.length; i++) {
        if (ahead.length >= AHEAD) break;
        const { tree } = this.#commits[this.#commitOf[this.#interesting[i]!]! - 1]!;
        if ((this.#flags[tree]! & (TAKEN | EXCLUDED)) === 0) add(tree);
      }
    } else {
      for (let i = this.#at; i < this.#taken.length && ahead.length < AHEAD; i++) add(this.#taken[i]!);
    }
    return ahead;
  }

  #touch(objects: PackObjects, id: number): boolean {
    if (!this.#locate(objects, id)) return false;
    if (this.#phase < 4) objects.readAt(objects.pack, objects.offset);
    else if (this.#options.filter?.kind === 'blob:limit') objects.headerAt(objects.pack, objects.offset);
    else void objects.position;
    return false;
  }

  /** One tip of either kind. */
  #start(objects: PackObjects): boolean {
    const { include, exclude = [] } = this.#options;
    if (this.#at >= include.length + exclude.length) return true;
    const included = this.#at < include.length;
    const tip = included ? include[this.#at]! : exclude[this.#at - include.length]!;
    const chain: { id: number; type: number }[] = [];
    let oid = tip;
    for (;;) {
      const name = oidBytes(oid);
      if (!objects.locate(name, 0) && oid !== EMPTY_TREE) {
        if (included) throw new ObjectMissing(oid);
        break;
      }
      const { type } = objects.header(oid);
      chain.push({ id: this.#id(name, 0), type: typeCode(type) });
      if (type === 'commit') this.#load(objects, chain[chain.length - 1]!.id);
      if (type !== 'tag') break;
      if (chain.length > 1000) throw new CorruptData('object-malformed', `tag ${tip} does not end`);
      oid = parseTag(objects.read(oid).data).object;
    }
    for (const { id, type } of chain) {
      if (!included) {
        if (type === COMMIT) this.#enqueue(id, EXCLUDED);
        else {
          this.#flags[id]! |= EXCLUDED;
          if (type === TREE) this.#closing.push(id, 0);
        }
      } else if (type === COMMIT) this.#enqueue(id, INTERESTING);
      else {
        // The filter leaves out nothing that is asked for by name: so a partial clone gets what it lacks.
        this.#flags[id]! |= INTERESTING;
        this.#explicit.push(id, type);
      }
    }
    this.#at++;
    return false;
  }

  /** One commit, newest first, as far as a commit that is not excluded may still come up. */
  #walkCommits(objects: PackObjects): boolean {
    const queue = this.#queue;
    if (queue.length === 0) return true;
    if (this.#waiting === 0) {
      if (this.#interesting.length === 0) return true;
      if (queue.newest() < this.#oldest && this.#slop-- <= 0) return true;
    }
    const commit = this.#commits[queue.peek()]!;
    const excluded = (this.#flags[commit.id]! & EXCLUDED) !== 0;
    const follow = excluded ? !commit.edge : !commit.shallow;
    if (follow) for (const parent of commit.parents) this.#load(objects, parent);
    queue.pop();
    if (!excluded) {
      this.#waiting--;
      this.#interesting.push(commit.id);
      if (commit.date < this.#oldest) this.#oldest = commit.date;
    }
    if (follow) for (const parent of commit.parents) this.#enqueue(parent, excluded ? EXCLUDED : INTERESTING);
    return false;
  }

  #enqueue(id: number, flag: number): void {
    const before = this.#flags[id]!;
    this.#flags[id] = before | flag;
    if ((before & (INTERESTING | EXCLUDED)) === 0) {
      const index = this.#commitOf[id]! - 1;
      this.#queue.push(index, this.#commits[index]!.date);
      if (flag === INTERESTING) this.#waiting++;
      return;
    }
    if (flag === INTERESTING || (before & EXCLUDED) !== 0) return;
    // It was taken for interesting: so were its ancestors, as far as the walk has come.
    if (this.#queue.has(this.#commitOf[id]! - 1)) {
      this.#waiting--;
      return;
    }
    const stack = [id];
    for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
      const commit = this.#commits[this.#commitOf[next]! - 1]!;
      if (commit.edge) continue;
      for (const parent of commit.parents) {
        const flags = this.#flags[parent]!;
        if ((flags & EXCLUDED) !== 0) continue;
        this.#flags[parent] = flags | EXCLUDED;
        if ((flags & INTERESTING) === 0) {
          // Below a shallow commit: not yet met from the interesting side.
          if (this.#commitOf[parent])
            this.#queue.push(this.#commitOf[parent] - 1, this.#commits[this.#commitOf[parent] - 1]!.date);
        } else if (this.#queue.has(this.#commitOf[parent]! - 1)) this.#waiting--;
        else stack.push(parent);
      }
    }
  }

  /** One tree that the receiver has: of a commit at the border, or below one. */
  #closeEdges(objects: PackObjects): boolean {
    if (this.#closing.length > 0) {
      const path = this.#closing[this.#closing.length - 1]!;
      const id = this.#closing[this.#closing.length - 2]!;
      if ((this.#flags[id]! & CLOSED) !== 0) {
        this.#closing.length -= 2;
        return false;
      }
      const below: number[] = [];
      if (this.#isEmptyTree(id) || this.#locate(objects, id)) {
        this.#entries(objects, id, path, (data, at, kind, nameAt) => {
          const entry = this.#id(data, at);
          this.#flags[entry]! |= EXCLUDED;
          const entryPath = pathBelow(path, data, nameAt, at - 1);
          this.#receiverAt.set(entryPath, entry);
          if (kind === TREE && (this.#flags[entry]! & CLOSED) === 0) below.push(entry, entryPath);
        });
      }
      this.#flags[id]! |= EXCLUDED | CLOSED;
      if (path === 0) this.#receiverAt.set(0, id);
      this.#closing.length -= 2;
      for (const value of below) this.#closing.push(value);
      return false;
    }
    for (; this.#at < this.#interesting.length; this.#at++) {
      const commit = this.#commits[this.#commitOf[this.#interesting[this.#at]!]! - 1]!;
      if ((this.#flags[commit.id]! & EXCLUDED) !== 0 || commit.shallow) continue;
      for (const parent of commit.parents) {
        if ((this.#flags[parent]! & EXCLUDED) === 0) continue;
        const edge = this.#commits[this.#commitOf[parent]! - 1];
        if (edge && (this.#flags[edge.tree]! & CLOSED) === 0) this.#closing.push(edge.tree, 0);
      }
      if (this.#closing.length > 0) return false;
    }
    return true;
  }

  /** One tree's entries into the list, or one more commit. */
  #takeTrees(objects: PackObjects): boolean {
    if (this.#trees.length > 0) {
      const path = this.#trees[this.#trees.length - 1]!;
      const level = this.#trees[this.#trees.length - 2]!;
      const id = this.#trees[this.#trees.length - 3]!;
      const below: number[] = [];
      const blobs: number[] = [];
      this.#locateOrFail(objects, id);
      this.#entries(objects, id, path, (data, at, kind, nameAt) => {
        const entry = this.#id(data, at);
        if (kind === TREE) {
          if (this.#mayTake(entry, level + 1)) below.push(entry, pathBelow(path, data, nameAt, at - 1));
        } else if ((this.#flags[entry]! & (TAKEN | EXCLUDED)) === 0) {
          blobs.push(entry, this.#receiverAt.size > 0 ? pathBelow(path, data, nameAt, at - 1) : 0);
        }
      });
      this.#trees.length -= 3;
      if (this.#wantsLevel(level + 1)) {
        for (let i = 0; i < blobs.length; i += 2) this.#take(blobs[i]!, BLOB, blobs[i + 1]!);
        for (let i = 0; i < below.length; i += 2) this.#takeTree(below[i]!, level + 1, below[i + 1]!);
      }
      return false;
    }
    if (this.#at < this.#explicit.length) {
      const [id, type] = [this.#explicit[this.#at]!, this.#explicit[this.#at + 1]!];
      this.#at += 2;
      if (type === TREE) this.#takeTree(id, 0, 0);
      else if ((this.#flags[id]! & EXCLUDED) === 0) this.#take(id, type);
      return false;
    }
    const index = this.#at - this.#explicit.length;
    if (index >= this.#interesting.length) return true;
    const id = this.#interesting[index]!;
    this.#at++;
    if ((this.#flags[id]! & EXCLUDED) !== 0) return false;
    this.#take(id, COMMIT);
    if (this.#wantsLevel(0)) this.#takeTree(this.#commits[this.#commitOf[id]! - 1]!.tree, 0, 0);
    return false;
  }

  /** One object's place in the packs; what the filter leaves out is dropped. */
  #placeObjects(objects: PackObjects): boolean {
    const list = this.#list;
    if (this.#at >= this.#taken.length) {
      list.receiverHas = this.#isExcluded();
      list.receiverAt = (path) => {
        const id = this.#receiverAt.get(path === ROOT ? 0 : path);
        return id === undefined ? undefined : this.#table.names.subarray(20 * id, 20 * id + 20);
      };
      return true;
    }
    const id = this.#taken[this.#at]!;
    const type = this.#takenTypes[this.#at]!;
    if (this.#isEmptyTree(id) && !this.#locate(objects, id)) {
      list.add(this.#table.names, 20 * id, type, undefined, 0);
    } else {
      this.#locateOrFail(objects, id);
      const { pack, position } = objects;
      const { filter } = this.#options;
      const path = this.#receiverAt.size > 0 ? this.#takenPaths[this.#at]! : 0;
      const limited =
        type === BLOB && filter?.kind === 'blob:limit' && (this.#flags[id]! & INTERESTING) === 0;
      const tooLarge = limited && objects.headerAt(pack, objects.offset).size >= filter.bytes;
      if (!tooLarge) list.add(this.#table.names, 20 * id, type, pack, position, path);
    }
    this.#at++;
    return false;
  }

  #take(id: number, type: number, path = 0): void {
    const flags = this.#flags[id]!;
    if ((flags & TAKEN) !== 0) return;
    this.#flags[id] = flags | TAKEN;
    const { filter } = this.#options;
    if (type === BLOB && filter?.kind === 'blob:none' && (flags & INTERESTING) === 0) return;
    this.#taken.push(id);
    this.#takenTypes.push(type);
    this.#takenPaths.push(path);
  }

  #takeTree(id: number, level: number, path: number): void {
    if (!this.#mayTake(id, level) || !this.#wantsLevel(level)) return;
    this.#levels?.set(id, level);
    this.#take(id, TREE, path || ROOT);
    this.#trees.push(id, level, path);
  }

  /** With a depth limit, a tree met again nearer to its root is read again: more below it is wanted now. */
  #mayTake(id: number, level: number): boolean {
    const flags = this.#flags[id]!;
    if ((flags & EXCLUDED) !== 0) return false;
    if ((flags & TAKEN) === 0) return true;
    return this.#levels !== undefined && level < (this.#levels.get(id) ?? 0);
  }

  #wantsLevel(level: number): boolean {
    const { filter } = this.#options;
    return filter?.kind !== 'tree' || level < filter.depth;
  }

  /** Loads a commit's links, once. */
  #load(objects: PackObjects, id: number): void {
    if (this.#commitOf[id]) return;
    this.#locateOrFail(objects, id);
    const oid = oidFromBytes(this.#table.names, 20 * id);
    const { type, data } = objects.readAt(objects.pack, objects.offset);
    if (type !== 'commit') throw new CorruptData('object-malformed', `${oid} is a ${type}, not a commit`);
    const links = parseCommitLinks(data);
    const parents = links.parents.map((parent) => this.#id(oidBytes(parent), 0));
    const tree = this.#id(oidBytes(links.tree), 0);
    const shallow = this.#options.shallow?.has(oid) ?? false;
    const edge = this.#options.excludeShallow?.has(oid) ?? false;
    this.#commits.push({ id, tree, parents, date: links.committed, shallow, edge });
    this.#commitOf[id] = this.#commits.length;
  }

  /** Shows the entries of a tree that may be new; the walk must have located it. */
  #entries(objects: PackObjects, id: number, path: number, visit: EntryVisitor): void {
    if (this.#isEmptyTree(id)) return;
    const { type, data } = objects.readAt(objects.pack, objects.offset);
    if (type !== 'tree') {
      const oid = oidFromBytes(this.#table.names, 20 * id);
      throw new CorruptData('object-malformed', `${oid} is a ${type}, not a tree`);
    }
    // With a depth limit, what was met at one level may still be wanted at another.
    const before = this.#levels ? undefined : this.#before.get(path);
    const walked = walkTree(data, before, visit);
    this.#beforeBytes += data.length - (before?.data.length ?? 0);
    if (this.#beforeBytes > BEFORE_BYTES) {
      this.#before.clear();
      this.#beforeBytes = data.length;
    }
    this.#before.set(path, walked);
  }

  #id(name: Uint8Array, at: number): number {
    const id = this.#table.add(name, at);
    if (id >= this.#flags.length) {
      this.#flags = resized(this.#flags, 2 * this.#flags.length);
      this.#commitOf = resized(this.#commitOf, 2 * this.#commitOf.length);
    }
    return id;
  }

  #locate(objects: PackObjects, id: number): boolean {
    return objects.locate(this.#table.names, 20 * id);
  }

  #locateOrFail(objects: PackObjects, id: number): void {
    if (!this.#locate(objects, id) && !this.#isEmptyTree(id)) {
      throw new ObjectMissing(oidFromBytes(this.#table.names, 20 * id));
    }
  }

  #isEmptyTree(id: number): boolean {
    return id === (this.#emptyTree ??= this.#id(oidBytes(EMPTY_TREE), 0));
  }

  /** Tells what the receiver is known to have, for deltas against it. */
  #isExcluded(): (name: Uint8Array, at: number) => boolean {
    const table = this.#table;
    const flags = this.#flags;
    return (name, at) => {
      const id = table.find(name, at);
      return id >= 0 && (flags[id]! & EXCLUDED) !== 0;
    };
  }
}

/** FNV-1a over the name that ends at `end`: a path below `path`, in 32 bits. */
function pathBelow(path: number, data: Uint8Array, nameAt: number, end: number): number {
  let key = path ^ 0x811c9dc5;
  for (let i = nameAt; i < end; i++) key = Math.imul(key ^ data[i]!, 0x01000193);
  return key;
}

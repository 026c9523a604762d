import { readAhead } from '../batch-misses.ts';
import { CorruptData } from '../corrupt-data.ts';
import { ObjectMissing } from '../objects.ts';
import { EMPTY_TREE, type Oid, oidBytes, oidFromBytes } from '../oid.ts';
import type { ReadAhead } from '../pack/block-cache.ts';
import { CommitQueue } from '../pack/commit-queue.ts';
import { BLOB, COMMIT, TAG, TREE, typeCode } from '../pack/entry.ts';
import type { PackObjects } from '../pack/pack-objects.ts';
import { type WalkedTree, walkTree } from '../pack/tree-walk.ts';
import { parseCommitLinks, parseTag } from '../parse.ts';
import { pathBelow } from '../reachable/met-objects.ts';
import type { Closures } from './bitmap-file.ts';
import type { Links, NumberedHistory } from './numbered-history.ts';
import { type Numbering, ObjectSet } from './object-set.ts';

const SLICE_MS = 30;
/** Objects prefetched together after a miss. */
const READ_AHEAD = 128;
/** Bytes of trees kept to compare with. */
const MAX_KEPT_TREE_BYTES = 16 * 1024 * 1024;
const MAX_TAGS = 1000;

/**
 * Adds everything that some tips reach to an {@link ObjectSet}, which must be closed: with an object it holds all that
 * the object reaches. A stored closure is added at once; only commits without one are walked. A step that misses
 * blocks changes nothing and is repeated.
 */
export class ClosureWalk implements ReadAhead {
  readonly #numbers: Numbering;
  readonly #closures: Pick<Closures, 'get'>;
  readonly #reach: ObjectSet;
  readonly #tips: readonly Oid[];
  /** Objects that need not be added. This set must be closed too. */
  readonly #excluded: ObjectSet | undefined;
  /** Ignores tips that do not exist. */
  readonly #skipMissing: boolean;
  readonly #history: NumberedHistory | undefined;
  /** Added at the end: one may be a tree, of which another commit has to bring all. */
  #files: ObjectSet | undefined;
  #tip = 0;
  readonly #links = new Map<number, Links>();
  readonly #queue = new CommitQueue();
  /** Root trees of the commits walked. */
  readonly #roots: number[] = [];
  /** Trees that were added and still have to be read: [number, path, ...]. */
  readonly #trees: number[] = [];
  /** By path: the last tree whose entries were all added. */
  readonly #lastTrees = new Map<number, WalkedTree>();
  #lastTreeBytes = 0;
  #read = 0;

  constructor(
    numbers: Numbering,
    closures: Pick<Closures, 'get'>,
    reach: ObjectSet,
    tips: readonly Oid[],
    options: {
      readonly lenient?: boolean;
      readonly beside?: ObjectSet;
      /** Of all that the tips reach. */
      readonly history?: NumberedHistory | undefined;
    } = {},
  ) {
    this.#numbers = numbers;
    this.#closures = closures;
    this.#reach = reach;
    this.#tips = tips;
    this.#skipMissing = options.lenient ?? false;
    this.#excluded = options.beside;
    this.#history = options.history;
  }

  get scan(): boolean {
    return this.#read > 20_000;
  }

  get around(): number {
    return this.#read > 50 ? 8 : 1;
  }

  /** Works for some milliseconds. @returns whether it is done. @throws ObjectMissing, CorruptData */
  advance(objects: PackObjects): boolean {
    const until = performance.now() + SLICE_MS;
    for (let steps = 1; ; steps++) {
      if ((steps & 63) === 0 && performance.now() > until) return false;
      if (this.#tip < this.#tips.length) this.#addTip(objects, this.#tips[this.#tip]!);
      else if (this.#queue.length > 0) this.#commit(objects);
      else if (this.#trees.length > 0) this.#tree(objects);
      else if (this.#roots.length > 0) this.#addTree(this.#roots.pop()!, 1);
      else {
        this.#files?.forEach((number) => void this.#add(number, BLOB));
        return true;
      }
    }
  }

  #addTip(objects: PackObjects, tip: Oid): void {
    const tags: number[] = [];
    let oid = tip;
    for (;;) {
      const number = this.#numbers.number(oidBytes(oid), 0);
      if (this.#has(number) && this.#numbers.type(number) !== BLOB) break;
      if (!objects.has(oid)) {
        if (this.#skipMissing) break;
        throw new ObjectMissing(oid);
      }
      const { type } = objects.header(oid);
      if (type === 'tag') {
        const { data } = objects.read(oid);
        if (tags.push(number) > MAX_TAGS)
          throw new CorruptData('object-malformed', `the tag chain of ${tip} is too long`);
        oid = parseTag(data).object;
        continue;
      }
      if (type === 'commit') this.#enqueue(objects, number);
      else if (type === 'tree') this.#addTree(number, 1);
      else this.#add(number, typeCode(type));
      break;
    }
    for (const number of tags) this.#add(number, TAG);
    this.#tip++;
  }

  /** Handles one commit, newest first: a stored closure of a new commit most likely contains the others. */
  #commit(objects: PackObjects): void {
    const number = this.#queue.peek();
    if (this.#hasAllOf(number)) {
      this.#queue.pop();
      return;
    }
    const known = number < this.#numbers.index.count ? this.#numbers.row(number) : -1;
    const closure = known < 0 ? undefined : this.#closures.get(known);
    if (closure) {
      this.#queue.pop();
      this.#reach.bits.addAll(closure);
      return;
    }
    const { parents, tree } = this.#links.get(number)!;
    readAhead(
      undefined,
      () => this.#queue.waiting().slice(0, READ_AHEAD),
      (other) => {
        const all = other === undefined ? parents : (this.#links.get(other)?.parents ?? []);
        for (const parent of all) if (!this.#hasAllOf(parent)) this.#load(objects, parent);
      },
    );
    this.#queue.pop();
    this.#links.delete(number);
    this.#add(number, COMMIT);
    if (this.#history) this.#history.addTo(this.#reach, number);
    else this.#roots.push(tree);
    for (const parent of parents) if (!this.#hasAllOf(parent)) this.#enqueue(objects, parent);
  }

  #enqueue(objects: PackObjects, number: number): void {
    const { date } = this.#load(objects, number);
    if (!this.#queue.has(number)) this.#queue.push(number, date);
  }

  #load(objects: PackObjects, number: number): Links {
    const known = this.#links.get(number);
    if (known) return known;
    if (this.#history) {
      const links = this.#history.links(number);
      this.#links.set(number, links);
      return links;
    }
    const { type, data } = this.#object(objects, number);
    const numbers = this.#numbers;
    if (type !== 'commit')
      throw new CorruptData('object-malformed', `${numbers.oid(number)} is a ${type}, not a commit`);
    const { tree, parents, committed } = parseCommitLinks(data);
    const links = {
      number,
      tree: numbers.number(oidBytes(tree), 0),
      parents: parents.map((parent) => numbers.number(oidBytes(parent), 0)),
      date: committed,
    };
    this.#links.set(number, links);
    return links;
  }

  #addTree(number: number, path: number): void {
    if (this.#hasAllOf(number)) return;
    this.#add(number, TREE);
    this.#trees.push(number, path);
  }

  /** Reads the last of the waiting trees. */
  #tree(objects: PackObjects): void {
    const trees = this.#trees;
    const [number, path] = [trees[trees.length - 2]!, trees[trees.length - 1]!];
    const { type, data } = readAhead(
      number,
      () => this.#waitingTrees(),
      (other) => this.#object(objects, other),
    );
    if (type !== 'tree')
      throw new CorruptData('object-malformed', `${this.#numbers.oid(number)} is a ${type}, not a tree`);
    trees.length -= 2;
    const before = this.#lastTrees.get(path);
    const walked = walkTree(data, before, (bytes, at, kind, nameAt) => {
      const entry = this.#numbers.number(bytes, at);
      if (kind === TREE) this.#addTree(entry, pathBelow(path, bytes, nameAt, at - 1));
      else if (!this.#has(entry)) (this.#files ??= new ObjectSet(this.#numbers.index.count)).add(entry);
    });
    this.#lastTreeBytes += data.length - (before?.data.length ?? 0);
    if (this.#lastTreeBytes > MAX_KEPT_TREE_BYTES) {
      this.#lastTrees.clear();
      this.#lastTreeBytes = data.length;
    }
    this.#lastTrees.set(path, walked);
  }

  #has(number: number): boolean {
    return this.#reach.has(number) || (this.#excluded?.has(number) ?? false);
  }

  /**
   * The same of a commit or a tree, with what it reaches.
   * @throws CorruptData when some tree names it as a file: what has it for that need not have what it reaches
   */
  #hasAllOf(number: number): boolean {
    if (!this.#has(number)) return false;
    if (this.#numbers.type(number) !== BLOB) return true;
    throw new CorruptData('object-malformed', `${this.#numbers.oid(number)} is named as one of two types`);
  }

  /** @returns whether it is new */
  #add(number: number, type: number): boolean {
    if (this.#excluded?.has(number) || !this.#reach.add(number)) return false;
    this.#numbers.setType(number, type);
    return true;
  }

  #waitingTrees(): number[] {
    const waiting: number[] = [];
    for (let i = this.#trees.length - 4; i >= 0 && waiting.length < READ_AHEAD; i -= 2)
      waiting.push(this.#trees[i]!);
    for (let i = this.#roots.length - 1; i >= 0 && waiting.length < READ_AHEAD; i--)
      if (!this.#has(this.#roots[i]!)) waiting.push(this.#roots[i]!);
    return waiting;
  }

  #object(objects: PackObjects, number: number) {
    const [names, at] = [this.#numbers.names(number), 20 * this.#numbers.row(number)];
    this.#read++;
    if (objects.locate(names, at)) return objects.readAt(objects.pack, objects.offset);
    const oid = oidFromBytes(names, at);
    if (oid !== EMPTY_TREE) throw new ObjectMissing(oid);
    return objects.read(oid);
  }
}

import { batchMisses, readAhead } from '../batch-misses.ts';
import { type BloomKey, mayHaveChanged } from '../commit-graph/bloom.ts';
import { CommitGraphFile } from '../commit-graph/read.ts';
import { CorruptData } from '../corrupt-data.ts';
import type { OpenDerived } from '../derived.ts';
import { ObjectMissing, type SyncObjects } from '../objects.ts';
import type { Oid } from '../oid.ts';
import { BlockMiss } from '../pack/block-cache.ts';
import { parseCommitLinks } from '../parse.ts';
import { ChangedNames } from './changed-names.ts';
import type { CommitNode } from './commit-node.ts';
import type { DateQueue } from './date-queue.ts';

/** Commits whose parents are prefetched when the parents of one are missing. */
const READ_AHEAD = 64;
/** Position of a commit that was not looked up in the file, and of one that is not in it. */
const UNKNOWN = -2;
const OUTSIDE = -1;

/** Commits that are passed at once: a millisecond. */
const MAX_PASSED = 8192;

/** The commit at which it ends to pass others, and how many were passed. */
export interface Passed {
  readonly end: CommitNode;
  readonly count: number;
}

/**
 * The commits read so far, on top of the commit-graph file, if there is one. Commits never change, so one graph may
 * serve any number of concurrent walks: the state of a walk is in its {@link Marks}. About 400 bytes per commit.
 *
 * A file that is not in memory is not waited for, because reading a page of commits from their pack is faster. Long
 * walks call {@link load}.
 */
export class CommitGraph {
  readonly changedNames = new ChangedNames();
  /** The file; never changes, so that generations stay comparable. */
  readonly source: OpenDerived | undefined;
  readonly #nodes = new Map<Oid, CommitNode>();
  /** By position in the file: the node, and the id, so that each is created once. */
  readonly #placed: (CommitNode | undefined)[] = [];
  readonly #ids: (Oid | undefined)[] = [];
  #file: CommitGraphFile | undefined;

  constructor(source?: OpenDerived) {
    this.source = source;
  }

  get size(): number {
    return this.#nodes.size;
  }

  /** Whether there is a usable commit-graph file. */
  get hasFile(): boolean {
    return this.source?.usable === true;
  }

  /** Waits for the whole file. May throw BlockMiss. */
  load(): void {
    this.source?.attempt(() => this.#open(this.source!).load());
  }

  /** @throws ObjectMissing; CorruptData when the object is no commit */
  node(objects: SyncObjects, oid: Oid): CommitNode {
    const known = this.#nodes.get(oid);
    if (known) return known;
    const position = this.#ask((file) => file.find(oid)) ?? OUTSIDE;
    if (position < 0) return this.#parsed(objects, oid);
    // The file may contain a commit that was garbage collected.
    if (!objects.has(oid)) throw new ObjectMissing(oid);
    return this.#ask((file) => this.#at(file, position)) ?? this.#parsed(objects, oid);
  }

  /** The commit, if a walk has read it. */
  known(oid: Oid): CommitNode | undefined {
    return this.#nodes.get(oid);
  }

  /** The parents; reads them if necessary. */
  parents(objects: SyncObjects, node: CommitNode): readonly CommitNode[] {
    if (node.parents) return node.parents;
    const { parentIds, places } = node;
    node.parents =
      (places && this.#ask((file) => places.map((place) => this.#at(file, place)))) ??
      batchMisses(
        parentIds,
        (oid) => this.#nodes.get(oid) ?? this.#sought(oid) ?? this.#parsed(objects, oid),
      );
    return node.parents;
  }

  /** The parents of the first commit in the queue; also prefetches those of other commits in it. */
  parentsOfFirst(objects: SyncObjects, first: CommitNode, queue: DateQueue): readonly CommitNode[] {
    if (first.parents) return first.parents;
    return readAhead(
      first,
      () => queue.some(READ_AHEAD),
      (node) => this.parents(objects, node),
    );
  }

  /** See {@link CommitNode.generation}; NaN when not known now. */
  generation(node: CommitNode): number {
    if (node.position === UNKNOWN) this.#place(node);
    return node.generation;
  }

  /** Whether the commit may reach another one with that generation. Apart from equal commits, no false negatives. */
  mayReach(node: CommitNode, generation: number): boolean {
    const own = this.generation(node);
    // Commits in the file cannot reach commits outside of it. Comparisons with NaN are false.
    return own === Number.POSITIVE_INFINITY || !(own <= generation);
  }

  /** Whether the commit may differ from its first parent at a path, according to its filter, if it is in memory. */
  mayChange(node: CommitNode, keys: readonly BloomKey[]): boolean {
    if (node.position === UNKNOWN) this.#place(node);
    if (node.position < 0) return true;
    return this.#ask((file) => mayHaveChanged(file.filter(node.position), keys)) ?? true;
  }

  /**
   * Passes commits that do not change a path, according to their filters, each on to its first parent: without nodes for
   * them, which cost more than to look at a filter.
   * @param goesOn whether to pass the parent too: it has this date, and its child is at this position of the file
   * @returns where that ends; undefined when the commit itself may change the path, has no parent, or no filter in memory
   */
  pass(
    node: CommitNode,
    keys: readonly BloomKey[],
    goesOn: (date: number, child: number) => boolean = () => true,
  ): Passed | undefined {
    if (node.position === UNKNOWN) this.#place(node);
    if (node.position < 0) return undefined;
    let at = node.position;
    let count = 0;
    this.#ask((file) => {
      while (count < MAX_PASSED && !mayHaveChanged(file.filter(at), keys)) {
        const parent = file.firstParent(at);
        if (parent < 0) break;
        const child = at;
        const date = file.date(parent);
        at = parent;
        count++;
        if (!goesOn(date, child)) break;
      }
    });
    const end = count > 0 ? this.#ask((file) => this.#at(file, at)) : undefined;
    return end && { end, count };
  }

  /** 0 without a file in memory. */
  get commitsInFile(): number {
    return this.#ask((file) => file.count) ?? 0;
  }

  #open(source: OpenDerived): CommitGraphFile {
    return (this.#file ??= source.parsed((file) => new CommitGraphFile(file)));
  }

  /** Queries the file. @returns undefined when there is none, or it is not in memory */
  #ask<T>(question: (file: CommitGraphFile) => T | undefined): T | undefined {
    const source = this.source;
    if (source === undefined) return undefined;
    try {
      return source.attempt(() => question(this.#open(source)));
    } catch (error) {
      if (error instanceof BlockMiss) return undefined;
      throw error;
    }
  }

  #sought(oid: Oid): CommitNode | undefined {
    return this.#ask((file) => {
      const position = file.find(oid);
      return position < 0 ? undefined : this.#at(file, position);
    });
  }

  #at(file: CommitGraphFile, position: number): CommitNode {
    const placed = this.#placed[position];
    if (placed) return placed;
    const oid = this.#id(file, position);
    const known = this.#nodes.get(oid);
    if (known) return (this.#placed[position] = known);
    const { tree, date, generation, parents } = file.commit(position);
    const parentIds = parents.map((parent) => this.#id(file, parent));
    return (this.#placed[position] = this.#add(oid, tree, date, parentIds, generation, position, parents));
  }

  #id(file: CommitGraphFile, position: number): Oid {
    return (this.#ids[position] ??= file.oid(position));
  }

  #parsed(objects: SyncObjects, oid: Oid): CommitNode {
    const object = objects.read(oid);
    if (object.type !== 'commit')
      throw new CorruptData('object-malformed', `${oid} is a ${object.type}, not a commit`);
    const { tree, parents, committed } = parseCommitLinks(object.data);
    return this.#add(oid, tree, committed, parents, Number.NaN, UNKNOWN);
  }

  #add(
    oid: Oid,
    tree: Oid,
    date: number,
    parentIds: readonly Oid[],
    generation: number,
    position: number,
    places?: readonly number[],
  ): CommitNode {
    const index = this.#nodes.size;
    const node = { index, oid, tree, date, parentIds, parents: undefined, generation, position, places };
    this.#nodes.set(oid, node);
    return node;
  }

  /** Looks up the position of a commit that was read from a pack. */
  #place(node: CommitNode): void {
    this.#ask((file) => {
      const position = file.find(node.oid);
      node.generation = position < 0 ? Number.POSITIVE_INFINITY : file.commit(position).generation;
      node.position = position < 0 ? OUTSIDE : position;
    });
  }
}

/** Up to eight flags per commit of a graph, for one walk. */
export class Marks {
  #flags = new Uint8Array(1024);

  get(node: CommitNode): number {
    return this.#flags[node.index] ?? 0;
  }

  has(node: CommitNode, flag: number): boolean {
    return ((this.#flags[node.index] ?? 0) & flag) !== 0;
  }

  /** Sets flags. @returns whether any of them is new */
  add(node: CommitNode, flags: number): boolean {
    if (node.index >= this.#flags.length) this.#grow(node.index);
    const before = this.#flags[node.index]!;
    this.#flags[node.index] = before | flags;
    return (before | flags) !== before;
  }

  clear(node: CommitNode, flags: number): void {
    this.#flags[node.index]! &= ~flags;
  }

  #grow(index: number): void {
    const larger = new Uint8Array(Math.max(index + 1, this.#flags.length * 2));
    larger.set(this.#flags);
    this.#flags = larger;
  }
}

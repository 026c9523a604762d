import { gather, readAhead } from '../gather.ts';
import { CorruptData, type SyncObjects } from '../objects.ts';
import type { Oid } from '../oid.ts';
import { parseCommitLinks } from '../parse.ts';
import { ChangedNames } from './changed-names.ts';
import type { DateQueue } from './date-queue.ts';

/** Commits whose parents are fetched together when those of one have to be. */
const READ_AHEAD = 64;

/** A commit as walks see it: no text, parents linked once they were read. */
export interface CommitNode {
  /** Dense from 0 within one graph: walks keep their marks in arrays. */
  readonly index: number;
  readonly oid: Oid;
  readonly tree: Oid;
  /** Committer's time, seconds since 1970. */
  readonly date: number;
  readonly parentIds: readonly Oid[];
  /** Set by {@link CommitGraph.parents}. */
  parents: readonly CommitNode[] | undefined;
}

/**
 * The commits read so far. Commits never change, so one graph may serve any number of walks, at the same
 * time too: what belongs to a walk is in the walk's {@link Marks}. About 400 bytes per commit.
 */
export class CommitGraph {
  readonly changedNames = new ChangedNames();
  readonly #nodes = new Map<Oid, CommitNode>();

  get size(): number {
    return this.#nodes.size;
  }

  /** @throws ObjectMissing; CorruptData when the object is no commit */
  node(objects: SyncObjects, oid: Oid): CommitNode {
    const known = this.#nodes.get(oid);
    if (known) return known;
    const object = objects.read(oid);
    if (object.type !== 'commit')
      throw new CorruptData('object-malformed', `${oid} is a ${object.type}, not a commit`);
    const { tree, parents, committed } = parseCommitLinks(object.data);
    const node: CommitNode = {
      index: this.#nodes.size,
      oid,
      tree,
      date: committed,
      parentIds: parents,
      parents: undefined,
    };
    this.#nodes.set(oid, node);
    return node;
  }

  /** The commit if some walk has read it. */
  known(oid: Oid): CommitNode | undefined {
    return this.#nodes.get(oid);
  }

  /** The parents, read when they were not yet. */
  parents(objects: SyncObjects, node: CommitNode): readonly CommitNode[] {
    return (node.parents ??= gather(node.parentIds, (oid) => this.node(objects, oid)));
  }

  /** The parents of the commit that is first in the queue; what has to be fetched for others in it comes along. */
  parentsOfFirst(objects: SyncObjects, first: CommitNode, queue: DateQueue): readonly CommitNode[] {
    if (first.parents) return first.parents;
    return readAhead(
      first,
      () => queue.some(READ_AHEAD),
      (node) => this.parents(objects, node),
    );
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

  /** Sets the flags. @returns whether any of them is new. */
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

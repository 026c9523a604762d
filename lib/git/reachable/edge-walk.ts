import { TREE } from '../pack/entry.ts';
import type { PackObjects } from '../pack/pack-objects.ts';
import type { CommitWalk } from './commit-walk.ts';
import { CLOSED, EXCLUDED, FILE, type MetObjects, pathBelow } from './met-objects.ts';

/** Marks what the receiver has: the trees of the edge commits, with everything in them. */
export class EdgeWalk {
  /** By path: the object that the receiver has there. */
  readonly receiverAt = new Map<number, number>();
  readonly #met: MetObjects;
  readonly #commits: CommitWalk;
  /** Trees that the receiver has, still to be read: [number, path, ...]. */
  readonly #closing: number[] = [];
  #at = 0;

  constructor(met: MetObjects, commits: CommitWalk) {
    this.#met = met;
    this.#commits = commits;
  }

  /** Handles one tree that the receiver has: the root tree of an edge commit, or a subtree. */
  close(objects: PackObjects): boolean {
    if (this.#closing.length > 0) {
      const path = this.#closing[this.#closing.length - 1]!;
      const id = this.#closing[this.#closing.length - 2]!;
      if (this.#met.is(id, CLOSED)) {
        this.#closing.length -= 2;
        return false;
      }
      const below: number[] = [];
      if (this.#met.isEmptyTree(id) || this.#met.locate(objects, id)) {
        this.#met.entries(objects, id, path, (data, at, kind, nameAt) => {
          const entry = this.#met.id(data, at);
          const isNew = !this.#met.is(entry, EXCLUDED);
          this.#met.flags[entry]! |= EXCLUDED | (kind !== TREE && isNew ? FILE : 0);
          const entryPath = pathBelow(path, data, nameAt, at - 1);
          this.receiverAt.set(entryPath, entry);
          if (kind === TREE && !this.#met.is(entry, CLOSED)) below.push(entry, entryPath);
        });
      }
      this.#met.flags[id] = (this.#met.flags[id]! | EXCLUDED | CLOSED) & ~FILE;
      if (path === 0) this.receiverAt.set(0, id);
      this.#closing.length -= 2;
      for (const value of below) this.#closing.push(value);
      return false;
    }
    const { interesting, excludedTrees } = this.#commits;
    for (let tree = excludedTrees.pop(); tree !== undefined; tree = excludedTrees.pop())
      this.#closing.push(tree, 0);
    if (this.#closing.length > 0) return false;
    for (; this.#at < interesting.length; this.#at++) {
      const commit = this.#met.commit(interesting[this.#at]!)!;
      if (this.#met.is(commit.id, EXCLUDED) || commit.shallow) continue;
      for (const parent of commit.parents) {
        if (!this.#met.is(parent, EXCLUDED)) continue;
        const edge = this.#met.commit(parent);
        if (edge && !this.#met.is(edge.tree, CLOSED)) this.#closing.push(edge.tree, 0);
      }
      if (this.#closing.length > 0) return false;
    }
    return true;
  }

  /** Numbers of trees that the next steps will read. */
  *ahead(): Generator<number> {
    for (let i = this.#closing.length - 2; i >= 0; i -= 2) yield this.#closing[i]!;
  }
}

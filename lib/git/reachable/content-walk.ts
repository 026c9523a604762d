import { BLOB, COMMIT, TREE, typeName } from '../pack/entry.ts';
import type { PackObjects } from '../pack/pack-objects.ts';
import type { CommitWalk } from './commit-walk.ts';
import type { EdgeWalk } from './edge-walk.ts';
import { EXCLUDED, FILE, GIVEN, type MetObjects, pathBelow, ROOT, TAKEN } from './met-objects.ts';
import type { EnumerateOptions } from './options.ts';

/** Lists the wanted commits, and their trees and blobs that the receiver does not have. */
export class ContentWalk {
  /** In columns: number, type code, hash of the path or 0. */
  readonly taken: number[] = [];
  readonly types: number[] = [];
  readonly paths: number[] = [];
  readonly #options: EnumerateOptions;
  readonly #met: MetObjects;
  readonly #commits: CommitWalk;
  readonly #edges: EdgeWalk;
  /** Trees still to be read: [number, level, path, ...]. */
  readonly #trees: number[] = [];
  readonly #levels: Map<number, number> | undefined;
  #at = 0;

  constructor(met: MetObjects, commits: CommitWalk, edges: EdgeWalk, options: EnumerateOptions) {
    this.#met = met;
    this.#commits = commits;
    this.#edges = edges;
    this.#options = options;
    if (options.filter?.treeDepth !== undefined) this.#levels = new Map();
  }

  /** Adds the entries of one tree to the list, or one more commit. */
  take(objects: PackObjects): boolean {
    if (this.#trees.length > 0) {
      const path = this.#trees[this.#trees.length - 1]!;
      const level = this.#trees[this.#trees.length - 2]!;
      const id = this.#trees[this.#trees.length - 3]!;
      const below: number[] = [];
      const blobs: number[] = [];
      this.#met.locateOrFail(objects, id);
      this.#met.entries(objects, id, path, (data, at, kind, nameAt) => {
        const entry = this.#met.id(data, at);
        if (kind === TREE) {
          if (this.#mayTake(entry, level + 1)) below.push(entry, pathBelow(path, data, nameAt, at - 1));
        } else if (!this.#met.is(entry, TAKEN | EXCLUDED)) {
          blobs.push(entry, this.#edges.receiverAt.size > 0 ? pathBelow(path, data, nameAt, at - 1) : 0);
        }
      });
      this.#trees.length -= 3;
      if (this.#wantsLevel(level + 1)) {
        for (let i = 0; i < blobs.length; i += 2) this.#take(blobs[i]!, BLOB, blobs[i + 1]!);
        for (let i = 0; i < below.length; i += 2) this.#takeTree(below[i]!, level + 1, below[i + 1]!);
      }
      return false;
    }
    const { explicit, interesting } = this.#commits;
    if (this.#at < explicit.length) {
      const [id, type] = [explicit[this.#at]!, explicit[this.#at + 1]!];
      this.#at += 2;
      // As in git, a tree that is requested by id is a level above those below it.
      if (type === TREE) this.#takeTree(id, -1, 0);
      else if (!this.#met.is(id, EXCLUDED)) this.#take(id, type);
      return false;
    }
    const index = this.#at - explicit.length;
    if (index >= interesting.length) return true;
    const id = interesting[index]!;
    this.#at++;
    if (this.#met.is(id, EXCLUDED) && !this.#met.is(id, FILE)) return false;
    this.#take(id, COMMIT);
    if (this.#wantsLevel(0)) this.#takeTree(this.#met.commit(id)!.tree, 0, 0);
    return false;
  }

  /** Numbers of trees that the next steps will read. */
  *ahead(): Generator<number> {
    for (let i = this.#trees.length - 3; i >= 0; i -= 3) yield this.#trees[i]!;
    const { explicit, interesting } = this.#commits;
    for (let i = Math.max(0, this.#at - explicit.length); i < interesting.length; i++) {
      const { tree } = this.#met.commit(interesting[i]!)!;
      if (!this.#met.is(tree, TAKEN | EXCLUDED)) yield tree;
    }
  }

  #take(id: number, type: number, path = 0): void {
    const flags = this.#met.flags[id]!;
    if ((flags & TAKEN) !== 0) return;
    this.#met.flags[id] = flags | TAKEN | (type === BLOB ? FILE : 0);
    if ((flags & GIVEN) === 0 && this.#isLeftOut(type)) return;
    this.taken.push(id);
    this.types.push(type);
    this.paths.push(path);
  }

  #isLeftOut(type: number): boolean {
    const { filter } = this.#options;
    if (filter === undefined) return false;
    return (type === BLOB && filter.blobLimit === 0) || (filter.omit?.has(typeName(type)) ?? false);
  }

  #takeTree(id: number, level: number, path: number): void {
    if (!this.#mayTake(id, level) || !this.#wantsLevel(level)) return;
    this.#levels?.set(id, level);
    this.#take(id, TREE, path || ROOT);
    this.#met.flags[id]! &= ~FILE;
    this.#trees.push(id, level, path);
  }

  /** With a depth limit, a tree found again closer to a root is read again, because more of it is wanted. */
  #mayTake(id: number, level: number): boolean {
    const flags = this.#met.flags[id]!;
    if ((flags & FILE) !== 0) return true;
    if ((flags & EXCLUDED) !== 0) return false;
    if ((flags & TAKEN) === 0) return true;
    return this.#levels !== undefined && level < (this.#levels.get(id) ?? 0);
  }

  #wantsLevel(level: number): boolean {
    return level < (this.#options.filter?.treeDepth ?? Number.POSITIVE_INFINITY);
  }
}

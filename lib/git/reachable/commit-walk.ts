import { CorruptData } from '../corrupt-data.ts';
import { ObjectMissing } from '../objects.ts';
import { EMPTY_TREE, oidBytes } from '../oid.ts';
import { CommitQueue } from '../pack/commit-queue.ts';
import { COMMIT, TREE, typeCode } from '../pack/entry.ts';
import type { PackObjects } from '../pack/pack-objects.ts';
import { parseTag } from '../parse.ts';
import { EXCLUDED, GIVEN, INTERESTING, type MetObjects } from './met-objects.ts';
import type { EnumerateOptions } from './options.ts';

/** Excluded commits visited beyond the last one that dates require, because clocks may be wrong. */
const SLOP = 64;

/** Walks from included and excluded tips, newest first, to find the commits that only the included ones reach. */
export class CommitWalk {
  /** Commits that were not excluded when they were visited; those that are EXCLUDED by now do not count. */
  readonly interesting: number[] = [];
  /** Included tips that are not commits: [number, type, ...]. */
  readonly explicit: number[] = [];
  /** Excluded tips that are trees. */
  readonly excludedTrees: number[] = [];
  readonly #options: EnumerateOptions;
  readonly #met: MetObjects;
  readonly #queue = new CommitQueue();
  #at = 0;
  #waiting = 0;
  #oldest = Number.POSITIVE_INFINITY;
  #slop = SLOP;

  constructor(met: MetObjects, options: EnumerateOptions) {
    this.#met = met;
    this.#options = options;
  }

  /** Adds one included or excluded tip. */
  addTip(objects: PackObjects): boolean {
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
      chain.push({ id: this.#met.id(name, 0), type: typeCode(type) });
      if (type === 'commit') this.#met.load(objects, chain[chain.length - 1]!.id);
      if (type !== 'tag') break;
      if (chain.length > 1000)
        throw new CorruptData('object-malformed', `the tag chain of ${tip} is too long`);
      oid = parseTag(objects.read(oid).data).object;
    }
    for (const { id, type } of chain) {
      // So that a partial clone can fetch what it lacks.
      if (included) this.#met.flags[id]! |= GIVEN;
      if (!included) {
        if (type === COMMIT) this.#enqueue(id, EXCLUDED);
        else {
          this.#met.flags[id]! |= EXCLUDED;
          if (type === TREE) this.excludedTrees.push(id);
        }
      } else if (type === COMMIT) this.#enqueue(id, INTERESTING);
      else {
        this.#met.flags[id]! |= INTERESTING;
        this.explicit.push(id, type);
      }
    }
    this.#at++;
    return false;
  }

  /** Visits one commit, newest first, as long as there may be commits that are not excluded. */
  walk(objects: PackObjects): boolean {
    const queue = this.#queue;
    if (queue.length === 0) return true;
    if (this.#waiting === 0) {
      if (this.interesting.length === 0) return true;
      if (queue.newest() < this.#oldest && this.#slop-- <= 0) return true;
    }
    const commit = this.#met.commit(queue.peek())!;
    const excluded = this.#met.is(commit.id, EXCLUDED);
    const follow = excluded ? !commit.edge : !commit.shallow;
    if (follow) for (const parent of commit.parents) this.#met.load(objects, parent);
    queue.pop();
    if (!excluded) {
      this.#waiting--;
      this.interesting.push(commit.id);
      if (commit.date < this.#oldest) this.#oldest = commit.date;
    }
    if (follow) for (const parent of commit.parents) this.#enqueue(parent, excluded ? EXCLUDED : INTERESTING);
    return false;
  }

  #enqueue(id: number, flag: number): void {
    const before = this.#met.flags[id]!;
    this.#met.flags[id] = before | flag;
    if ((before & (INTERESTING | EXCLUDED)) === 0) {
      this.#queue.push(id, this.#met.commit(id)!.date);
      if (flag === INTERESTING) this.#waiting++;
      return;
    }
    if (flag === INTERESTING || (before & EXCLUDED) !== 0) return;
    // It was considered interesting, and so were its visited ancestors.
    if (this.#queue.has(id)) {
      this.#waiting--;
      return;
    }
    const stack = [id];
    for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
      const commit = this.#met.commit(next)!;
      if (commit.edge) continue;
      for (const parent of commit.parents) {
        const flags = this.#met.flags[parent]!;
        if ((flags & EXCLUDED) !== 0) continue;
        this.#met.flags[parent] = flags | EXCLUDED;
        if ((flags & INTERESTING) === 0) {
          // A parent of a shallow commit: not yet visited from the interesting side.
          const met = this.#met.commit(parent);
          if (met) this.#queue.push(parent, met.date);
        } else if (this.#queue.has(parent)) this.#waiting--;
        else stack.push(parent);
      }
    }
  }

  /** Numbers of commits that the next steps will read. */
  *ahead(): Generator<number> {
    for (const id of this.#queue.waiting()) {
      for (const parent of this.#met.commit(id)!.parents) if (!this.#met.commit(parent)) yield parent;
    }
  }
}

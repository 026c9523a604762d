import { resized } from '../pack/entry-table.ts';
import { NameTable } from '../pack/name-table.ts';
import type { Brought } from './changed-paths.ts';
import type { CommitTable } from './commit-table.ts';

/** Of one object, on average: with more, commits bring the same again and again, and a walk is cheaper. */
const MAX_TIMES = 16;
const MIN_LIMIT = 1_000_000;

/**
 * What each commit of a history brings: the trees and blobs that its first parent has not. Noted while all trees are compared
 * for the filters of a commit-graph, so that the bitmap made after it reads none of them again. About 40 bytes for each object,
 * and 4 for each time that it is brought.
 */
export class BroughtObjects {
  /** All of the history, once the filters are made. */
  commits: CommitTable | undefined;
  /** Everything that was brought. */
  names = new NameTable();
  /** Kinds of those. */
  kinds = new Uint8Array(256);
  /** Numbers in {@link names}, commit after commit. */
  #numbers = new Uint32Array(1024);
  #used = 0;
  /** By commit: where its numbers begin, and one more than their count; 0 before they are known. */
  #starts = new Uint32Array(0);
  #lengths = new Uint32Array(0);
  #known = 0;
  #limit = 0;

  /** @param objects how many there are in all packs */
  begin(commits: CommitTable, objects: number): void {
    this.commits = commits;
    this.#starts = new Uint32Array(commits.count);
    this.#lengths = new Uint32Array(commits.count);
    this.#limit = Math.max(MIN_LIMIT, MAX_TIMES * objects);
  }

  /** Takes note of what a commit brings. Undefined once this was given up. */
  of(commit: number): Brought | undefined {
    if (this.commits === undefined) return undefined;
    this.#starts[commit] = this.#used;
    return {
      object: (name, at, kind) => this.#add(name, at, kind),
      tooMany: () => this.giveUp(),
    };
  }

  /** All of what the commit brings was noted, and nothing of another one meanwhile. */
  end(commit: number): void {
    if (this.commits === undefined) return;
    this.#lengths[commit] = this.#used - this.#starts[commit]! + 1;
    this.#known++;
  }

  /** Whether it is known of every commit. */
  get isComplete(): boolean {
    return this.commits !== undefined && this.#known === this.commits.count;
  }

  /** Numbers in {@link names} of what a commit brings. */
  numbers(commit: number): Uint32Array {
    const start = this.#starts[commit]!;
    return this.#numbers.subarray(start, start + this.#lengths[commit]! - 1);
  }

  /** Frees the memory: a walk finds the same. */
  giveUp(): void {
    this.commits = undefined;
    this.names = new NameTable();
    this.kinds = new Uint8Array(0);
    this.#numbers = new Uint32Array(0);
    this.#starts = new Uint32Array(0);
    this.#lengths = new Uint32Array(0);
    this.#used = 0;
  }

  #add(name: Uint8Array, at: number, kind: number): void {
    if (this.commits === undefined) return;
    if (this.#used >= this.#limit) {
      this.giveUp();
      return;
    }
    const number = this.names.add(name, at);
    if (number >= this.kinds.length) this.kinds = resized(this.kinds, 2 * this.kinds.length);
    const before = this.kinds[number]!;
    // A walk finds what it is.
    if (before !== 0 && before !== kind) {
      this.giveUp();
      return;
    }
    this.kinds[number] = kind;
    if (this.#used >= this.#numbers.length) this.#numbers = resized(this.#numbers, 2 * this.#numbers.length);
    this.#numbers[this.#used++] = number;
  }
}

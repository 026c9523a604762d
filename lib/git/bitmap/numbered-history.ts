import type { BroughtObjects } from '../commit-graph/brought-objects.ts';
import type { CommitTable } from '../commit-graph/commit-table.ts';
import { type Oid, oidBytes } from '../oid.ts';
import { TREE } from '../pack/entry.ts';
import type { Numbering, ObjectSet } from './object-set.ts';

/** A commit's links, by numbers of a {@link Numbering}. */
export interface Links {
  readonly number: number;
  readonly tree: number;
  readonly parents: readonly number[];
  readonly date: number;
}

/**
 * A history of which it is known what each commit brings, by the numbers of a merged index. What a commit reaches is what it and
 * its ancestors bring, so that no object has to be read.
 */
export class NumberedHistory {
  readonly #brought: BroughtObjects;
  readonly #commits: CommitTable;
  /** By number in the index: that of the commit in the table plus one. */
  readonly #rows: Uint32Array;
  /** By number in the table, and of what was brought: that in the index. */
  readonly #commitNumbers: Uint32Array;
  readonly #rootNumbers: Uint32Array;
  readonly #numbers: Uint32Array;

  private constructor(
    brought: BroughtObjects,
    commits: CommitTable,
    rows: Uint32Array,
    found: Readonly<Record<'commits' | 'roots' | 'objects', Uint32Array>>,
  ) {
    this.#brought = brought;
    this.#commits = commits;
    this.#rows = rows;
    this.#commitNumbers = found.commits;
    this.#rootNumbers = found.roots;
    this.#numbers = found.objects;
  }

  /**
   * Also notes the types of all that was brought.
   * @returns undefined when it does not reach as far as these tips, or the index lacks some of it
   */
  static of(brought: BroughtObjects, numbers: Numbering, tips: Iterable<Oid>): NumberedHistory | undefined {
    const { commits, names, kinds } = brought;
    if (commits === undefined || !brought.isComplete) return undefined;
    const size = numbers.index.count;
    const found = {
      commits: inIndex(numbers, commits.names, commits.count),
      roots: inIndex(numbers, commits.trees, commits.count),
      objects: inIndex(numbers, names.names, names.count),
    };
    const { commits: commitNumbers, roots, objects } = found;
    if (commitNumbers === undefined || roots === undefined || objects === undefined) return undefined;
    const rows = new Uint32Array(size);
    for (const [row, number] of commitNumbers.entries()) rows[number] = row + 1;
    for (const tip of tips) {
      const number = numbers.known(oidBytes(tip), 0);
      if (!(number >= 0 && number < size && rows[number]! > 0)) return undefined;
    }
    for (const number of roots) numbers.setType(number, TREE);
    for (const [i, number] of objects.entries()) numbers.setType(number, kinds[i]!);
    return new NumberedHistory(brought, commits, rows, { commits: commitNumbers, roots, objects });
  }

  links(number: number): Links {
    const row = this.#rows[number]! - 1;
    const commits = this.#commits;
    return {
      number,
      tree: this.#rootNumbers[row]!,
      parents: commits.parents(row).map((parent) => this.#commitNumbers[parent]!),
      date: commits.dates[row]!,
    };
  }

  /** Adds what a commit brings, without the commit. */
  addTo(reach: ObjectSet, number: number): void {
    const row = this.#rows[number]! - 1;
    reach.add(this.#rootNumbers[row]!);
    for (const name of this.#brought.numbers(row)) reach.add(this.#numbers[name]!);
  }
}

/** The numbers of these names, 20 bytes each; undefined when one is not in the index. */
function inIndex(numbers: Numbering, names: Uint8Array, count: number): Uint32Array | undefined {
  const found = new Uint32Array(count);
  for (let i = 0; i < count; i++) {
    const position = numbers.index.find(names, 20 * i);
    if (position < 0) return undefined;
    found[i] = numbers.index.ranks[position]!;
  }
  return found;
}

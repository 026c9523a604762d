import { Effort, type Steps } from '../work.ts';
import type { LineTable } from './line-table.ts';
import type { StepBudget } from './myers.ts';

/**
 * Histogram diff, as described in JGit's class `HistogramDiff`: Bram Cohen's patience diff, extended to lines that
 * occur a few times instead of once. A region is split at the run of equal lines that contains the rarest line (of the
 * old side), and both parts are solved the same way. If every common line occurs more than {@link MAX_OCCURRENCES}
 * times, `fallback` aligns the region.
 *
 * @returns false when `budget` ran out: then only part of the changes is marked
 */
export function* markHistogram(
  table: LineTable,
  marks: { readonly deleted: Uint8Array; readonly inserted: Uint8Array },
  fallback: (
    part: LineTable,
    deleted: Uint8Array,
    inserted: Uint8Array,
    budget?: StepBudget,
  ) => Steps<boolean>,
  budget: StepBudget = { steps: Infinity },
): Steps<boolean> {
  const histogram = new Histogram(table, budget);
  const open: Region[] = [{ aLow: 0, aHigh: table.old.length, bLow: 0, bHigh: table.new.length }];
  for (let region = open.pop(); region !== undefined; region = open.pop()) {
    const { aLow, aHigh, bLow, bHigh } = region;
    const deleted = marks.deleted.subarray(aLow, aHigh);
    const inserted = marks.inserted.subarray(bLow, bHigh);
    if (aLow === aHigh || bLow === bHigh) {
      deleted.fill(1);
      inserted.fill(1);
      continue;
    }
    const split = yield* histogram.split(region);
    if (budget.steps < 0) return false;
    if (split === 'nothing-common') {
      deleted.fill(1);
      inserted.fill(1);
    } else if (split === 'too-common') {
      const part = partOf(table, region);
      if (!(yield* fallback(part, deleted, inserted, budget))) return false;
    } else {
      open.push(
        { aLow: split.aHigh, aHigh, bLow: split.bHigh, bHigh },
        { aLow, aHigh: split.aLow, bLow, bHigh: split.bLow },
      );
    }
  }
  return true;
}

/** a[aLow..aHigh) against b[bLow..bHigh). */
interface Region {
  readonly aLow: number;
  readonly aHigh: number;
  readonly bLow: number;
  readonly bHigh: number;
}

/** A region is not split at a line that occurs more often. */
const MAX_OCCURRENCES = 64;
const NO_NEXT = -1;

class Histogram {
  readonly #a: Int32Array;
  readonly #b: Int32Array;
  readonly #budget: StepBudget;
  /** Per line number, within the current region: how often it occurs in `a`, and where first. */
  readonly #count: Int32Array;
  readonly #first: Int32Array;
  /** Per line of `a`: where the same line occurs next. */
  readonly #next: Int32Array;
  readonly #effort = new Effort();

  constructor(table: LineTable, budget: StepBudget) {
    this.#a = table.old;
    this.#b = table.new;
    this.#budget = budget;
    this.#count = new Int32Array(table.oldCount.length);
    this.#first = new Int32Array(table.oldCount.length);
    this.#next = new Int32Array(table.old.length);
  }

  *split(region: Region): Steps<Region | 'nothing-common' | 'too-common'> {
    const { aLow, aHigh, bLow, bHigh } = region;
    for (let i = aHigh - 1; i >= aLow; i--) {
      const number = this.#a[i]!;
      this.#next[i] = this.#count[number]! > 0 ? this.#first[number]! : NO_NEXT;
      this.#first[number] = i;
      this.#count[number]!++;
    }
    this.#budget.steps -= aHigh - aLow + bHigh - bLow;
    if (this.#effort.spend(aHigh - aLow + bHigh - bLow)) yield;
    const found = yield* this.#rarestRun(region);
    for (let i = aLow; i < aHigh; i++) this.#count[this.#a[i]!] = 0;
    return found;
  }

  *#rarestRun(region: Region): Steps<Region | 'nothing-common' | 'too-common'> {
    const { aLow, aHigh, bLow, bHigh } = region;
    const [a, b, count] = [this.#a, this.#b, this.#count];
    let best: Region | undefined;
    let rarest = MAX_OCCURRENCES + 1;
    let common = false;
    for (let line = bLow; line < bHigh; ) {
      let behind = line + 1;
      let spent = 1;
      const occurrences = count[b[line]!]!;
      common ||= occurrences > 0;
      if (occurrences > 0 && occurrences <= rarest) {
        for (let at = this.#first[b[line]!]!; at !== NO_NEXT; ) {
          let [aStart, bStart, aEnd, bEnd, rarity] = [at, line, at + 1, line + 1, occurrences];
          while (aStart > aLow && bStart > bLow && a[aStart - 1] === b[bStart - 1]) {
            aStart--;
            bStart--;
            rarity = Math.min(rarity, count[a[aStart]!]!);
          }
          while (aEnd < aHigh && bEnd < bHigh && a[aEnd] === b[bEnd]) {
            rarity = Math.min(rarity, count[a[aEnd]!]!);
            aEnd++;
            bEnd++;
          }
          this.#budget.steps -= aEnd - aStart;
          spent += aEnd - aStart;
          behind = Math.max(behind, bEnd);
          if (best === undefined || best.aHigh - best.aLow < aEnd - aStart || rarity < rarest) {
            best = { aLow: aStart, aHigh: aEnd, bLow: bStart, bHigh: bEnd };
            rarest = rarity;
          }
          // An occurrence inside this run would find the same run again.
          do at = this.#next[at]!;
          while (at !== NO_NEXT && at < aEnd);
        }
      }
      line = behind;
      if (this.#effort.spend(spent)) yield;
      if (this.#budget.steps < 0) break;
    }
    if (common && rarest > MAX_OCCURRENCES) return 'too-common';
    return best ?? 'nothing-common';
  }
}

/** The region as a separate pair of texts, with new line numbers. */
function partOf(table: LineTable, { aLow, aHigh, bLow, bHigh }: Region): LineTable {
  const numbers = new Map<number, number>();
  const renumber = (line: number): number => {
    let number = numbers.get(line);
    if (number === undefined) numbers.set(line, (number = numbers.size));
    return number;
  };
  const old = table.old.subarray(aLow, aHigh).map(renumber);
  const other = table.new.subarray(bLow, bHigh).map(renumber);
  const oldCount = new Int32Array(numbers.size);
  const newCount = new Int32Array(numbers.size);
  for (const number of old) oldCount[number]!++;
  for (const number of other) newCount[number]!++;
  return { old, new: other, oldCount, newCount, head: 0, tail: 0 };
}

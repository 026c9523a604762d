import type { Steps } from '../work.ts';
import { Effort } from '../work.ts';
import { markHistogram } from './histogram.ts';
import { cutIntoLines } from './line-starts.ts';
import { countLines, countShared, type LineTable, numberLines, numberMiddle } from './line-table.ts';
import { markChanges, roughRoot, type StepBudget } from './myers.ts';

/** The lines that differ between two files: 1 for each line deleted from the old or inserted into the new file. */
export interface LineChanges {
  readonly deleted: Uint8Array;
  readonly inserted: Uint8Array;
  /** The start of each line; see {@link TextLines}. */
  readonly oldStarts: Int32Array;
  readonly newStarts: Int32Array;
  readonly table: LineTable;
}

export interface LineCounts {
  readonly additions: number;
  readonly deletions: number;
  /** Set when the files were too large to align: lines were matched without regard to order. */
  readonly approximate?: true;
}

/** Above these numbers of bytes and lines, in both files together, or steps of the search, counts are approximate. */
export const MAX_DIFF_BYTES = 32 * 1024 * 1024;
const MAX_DIFF_LINES = 1_000_000;
export const MAX_DIFF_STEPS = 60_000_000;

/**
 * Counts added and deleted lines of two texts, as `git diff --numstat` does.
 *
 * @param budget shared by the files of one comparison; each takes {@link MAX_DIFF_STEPS} of it at most
 */
export function* countChanges(
  oldData: Uint8Array,
  newData: Uint8Array,
  budget?: StepBudget,
): Steps<LineCounts> {
  if (oldData.length === 0 || newData.length === 0) {
    return { additions: countLines(newData), deletions: countLines(oldData) };
  }
  if (oldData.length + newData.length > MAX_DIFF_BYTES) return yield* countUnordered(oldData, newData);
  const allowed = Math.min(MAX_DIFF_STEPS, budget?.steps ?? MAX_DIFF_STEPS);
  const own = { steps: allowed };
  const changes = yield* diffLines(oldData, newData, own);
  if (budget) budget.steps -= allowed - Math.max(0, own.steps);
  if (changes === undefined) return yield* countUnordered(oldData, newData);
  return { additions: sum(changes.inserted), deletions: sum(changes.deleted) };
}

/** How lines are aligned: git's default, or the one its `ort` merges use (merge-strategies, `diff-algorithm`). */
export type DiffAlgorithm = 'myers' | 'histogram';

/**
 * Marks the changed lines as git does, before groups of them slide to where they read best: see {@link compact}.
 *
 * @returns undefined when `budget` ran out, or there are more than {@link MAX_DIFF_LINES}
 */
export function* diffLines(
  oldData: Uint8Array,
  newData: Uint8Array,
  budget?: StepBudget,
  algorithm: DiffAlgorithm = 'myers',
): Steps<LineChanges | undefined> {
  const pair = yield* cutIntoLines(oldData, newData, MAX_DIFF_LINES);
  if (!pair) return undefined;
  yield;
  const table = yield* algorithm === 'myers' ? numberMiddle(pair) : numberLines(pair);
  const deleted = new Uint8Array(table.old.length);
  const inserted = new Uint8Array(table.new.length);
  const complete =
    algorithm === 'myers'
      ? yield* markMyers(table, deleted, inserted, budget)
      : yield* markHistogram(table, { deleted, inserted }, markMyers, budget);
  const [oldStarts, newStarts] = [pair.old.starts, pair.new.starts];
  return complete ? { deleted, inserted, oldStarts, newStarts, table } : undefined;
}

/** Runs Myers' algorithm without the lines that are not worth matching. @returns false when the budget ran out */
function* markMyers(
  table: LineTable,
  deleted: Uint8Array,
  inserted: Uint8Array,
  budget?: StepBudget,
): Steps<boolean> {
  const { old, new: after } = table;
  let { head, tail } = table;
  const shorter = Math.min(old.length, after.length);
  while (head < shorter - tail && old[head] === after[head]) head++;
  while (tail < shorter - head && old[old.length - 1 - tail] === after[after.length - 1 - tail]) tail++;

  const oldKept = yield* worthMatching(old, table.newCount, head, tail, deleted);
  const newKept = yield* worthMatching(after, table.oldCount, head, tail, inserted);
  return yield* markChanges(
    oldKept.map((line) => old[line]!),
    newKept.map((line) => after[line]!),
    {
      deleted: (index) => (deleted[oldKept[index]!] = 1),
      inserted: (index) => (inserted[newKept[index]!] = 1),
    },
    budget,
  );
}

/** Upper bound of the number of occurrences from which a line is too common to be matched. */
const MAX_COMMON = 1024;
/** How far around a common line to look for lines that match nothing. */
const NEIGHBOURHOOD = 100;
/** A run is left unmatched only if about a quarter of its lines or fewer are common. */
const COMMON_SHARE = 4;

const UNMATCHED = 0;
const MATCHED = 1;
const COMMON = 2;

/**
 * Selects the lines to be matched. Lines without an equal on the other side are changed; so are very common lines
 * (blank, a brace) among them, where a match would be meaningless.
 *
 * @returns line numbers; all others between head and tail are set in `changed`
 */
function* worthMatching(
  lines: Int32Array,
  otherCount: Int32Array,
  head: number,
  tail: number,
  changed: Uint8Array,
): Steps<Int32Array> {
  const effort = new Effort();
  const end = lines.length - tail;
  const common = Math.min(roughRoot(lines.length), MAX_COMMON);
  const kinds = new Uint8Array(end);
  for (let i = head; i < end; i++) {
    const matches = otherCount[lines[i]!]!;
    kinds[i] = matches === 0 ? UNMATCHED : matches >= common ? COMMON : MATCHED;
  }
  const kept = new Int32Array(end - head);
  let count = 0;
  /** Selects lines until it is time to stop. @returns the line at which it stopped */
  const some = (from: number): number => {
    for (let i = from; i < end; i++) {
      const kind = kinds[i];
      if (kind === MATCHED || (kind === COMMON && !amongUnmatched(kinds, i, head, end))) kept[count++] = i;
      else changed[i] = 1;
      if (effort.spend(kind === COMMON ? NEIGHBOURHOOD : 1)) return i + 1;
    }
    return end;
  };
  for (let i = some(head); i < end; i = some(i)) yield;
  return kept.subarray(0, count);
}

function amongUnmatched(kinds: Uint8Array, at: number, head: number, end: number): boolean {
  const before = run(kinds, at, -1, Math.max(head, at - NEIGHBOURHOOD) - 1);
  if (before.unmatched === 0) return false;
  const behind = run(kinds, at, 1, Math.min(end - 1, at + NEIGHBOURHOOD) + 1);
  if (behind.unmatched === 0) return false;
  const unmatched = before.unmatched + behind.unmatched;
  const common = before.common + behind.common + 2;
  return common * COMMON_SHARE < common + unmatched;
}

/** Counts unmatched and common lines up to the next line that has a match. */
function run(
  kinds: Uint8Array,
  at: number,
  step: 1 | -1,
  stop: number,
): { unmatched: number; common: number } {
  let unmatched = 0;
  let common = 0;
  for (let i = at + step; i !== stop && kinds[i] !== MATCHED; i += step) {
    if (kinds[i] === UNMATCHED) unmatched++;
    else common++;
  }
  return { unmatched, common };
}

/** Compares lines as multisets, in linear time; finds at least as many equal lines as an alignment. */
function* countUnordered(oldData: Uint8Array, newData: Uint8Array): Steps<LineCounts> {
  const { old, new: after, shared } = yield* countShared(oldData, newData);
  return { additions: after - shared, deletions: old - shared, approximate: true };
}

function sum(flags: Uint8Array): number {
  let total = 0;
  for (let i = 0; i < flags.length; i++) total += flags[i]!;
  return total;
}

import { Effort, type Steps } from '../work.ts';
import { splitBadness } from './indent.ts';
import type { LineChanges } from './lines.ts';

/**
 * Slides groups of changed lines to where they read best, as git does after every alignment: a group whose last
 * line equals the line before it can slide up by one, and vice versa down, without changing the meaning of the diff.
 *
 * Groups that touch are merged. A group that can be aligned with a group of the other file is; any other slides
 * down as far as possible or, with `indent`, to where indentation and blank lines make the best boundaries
 * (gitdiff-options, `--indent-heuristic`).
 */
export function* compact(
  changes: LineChanges,
  oldData: Uint8Array,
  newData: Uint8Array,
  options: { readonly indent: boolean },
): Steps<void> {
  const { table, deleted, inserted, oldStarts, newStarts } = changes;
  const place = (data: Uint8Array, starts: Int32Array): Place | undefined =>
    options.indent ? (group, lowest) => bestPlace(data, starts, group, lowest) : undefined;
  yield* slideGroups(table.old, deleted, inserted, place(oldData, oldStarts));
  yield* slideGroups(table.new, inserted, deleted, place(newData, newStarts));
}

interface Group {
  /** First line, and the line after the last: equal for an empty group, between two unchanged lines. */
  start: number;
  end: number;
}

/** Chooses the end of a group, between `lowest` and its current end. */
type Place = (group: Readonly<Group>, lowest: number) => number;

/** Steps per line for all slides of one file; above, groups stay where they are. Real text never needs as many. */
const STEPS_PER_LINE = 64;

/** What a slide by a line costs, and the choice among places. */
const SLIDE_EFFORT = 5;
const PLACE_EFFORT = 500;

/**
 * Walks the groups of both files in parallel: there is one, possibly empty, before each unchanged line and at the end,
 * so that they correspond one to one. Those that are empty in both are skipped.
 */
function* slideGroups(lines: Int32Array, mine: Uint8Array, others: Uint8Array, place?: Place): Steps<void> {
  const effort = new Effort();
  const size = lines.length;
  const group: Group = { start: 0, end: runEnd(mine, 0) };
  const opposite: Group = { start: 0, end: runEnd(others, 0) };
  /** The first changed line behind the opposite group, or one within it that is no longer looked for. */
  let nextOpposite = nextChange(others, opposite.end);
  let steps = 1000 + size * STEPS_PER_LINE;

  const up = (): boolean => {
    if (group.start === 0 || lines[group.start - 1] !== lines[group.end - 1]) return false;
    mine[--group.start] = 1;
    mine[--group.end] = 0;
    group.start = runStart(mine, group.start);
    if (opposite.start < opposite.end) nextOpposite = opposite.start;
    opposite.end = opposite.start - 1;
    opposite.start = runStart(others, opposite.end);
    steps--;
    return true;
  };
  const down = (): boolean => {
    if (group.end === size || lines[group.start] !== lines[group.end]) return false;
    mine[group.start++] = 0;
    mine[group.end++] = 1;
    group.end = runEnd(mine, group.end);
    advance(opposite, others, 1);
    steps--;
    return true;
  };

  /** Handles groups until it is time to stop. @returns whether all are done */
  const some = (): boolean => {
    for (;;) {
      let spent = 1;
      if (group.start < group.end && steps > 0) {
        const before = steps;
        let lowest: number;
        let aligned: boolean;
        let length: number;
        do {
          length = group.end - group.start;
          while (up());
          lowest = group.end;
          aligned = opposite.start < opposite.end;
          while (down()) aligned ||= opposite.start < opposite.end;
        } while (length !== group.end - group.start && steps > 0);

        if (aligned) while (opposite.start === opposite.end && up());
        else if (place && group.end > lowest) {
          const end = place(group, lowest);
          while (group.end > end && up());
          spent += PLACE_EFFORT;
        }
        spent += (before - steps) * SLIDE_EFFORT;
      }
      const next = nextChange(mine, group.end);
      if (next === size) return true;
      if (nextOpposite < opposite.end) nextOpposite = nextChange(others, opposite.end);
      const unchanged = Math.min(next - group.end, nextOpposite - opposite.end);
      advance(group, mine, unchanged);
      advance(opposite, others, unchanged);
      if (effort.spend(spent)) return false;
    }
  };
  while (!some()) yield;
}

/** Moves to the group after so many unchanged lines. */
function advance(group: Group, changed: Uint8Array, lines: number): void {
  group.start = group.end + lines;
  group.end = runEnd(changed, group.start);
}

/** The first changed line from a line on; the number of lines when there is none. */
export function nextChange(changed: Uint8Array, from: number): number {
  const found = changed.indexOf(1, from);
  return found < 0 ? changed.length : found;
}

export function runEnd(changed: Uint8Array, from: number): number {
  let at = from;
  while (at < changed.length && changed[at] === 1) at++;
  return at;
}

function runStart(changed: Uint8Array, from: number): number {
  let at = from;
  while (at > 0 && changed[at - 1] === 1) at--;
  return at;
}

/** Positions compared at most; longer slides only occur in generated text. */
const MAX_PLACES = 100;

/** The position whose two boundaries have the lowest badness; of equals, the last one in the file. */
function bestPlace(data: Uint8Array, starts: Int32Array, group: Readonly<Group>, lowest: number): number {
  const length = group.end - group.start;
  // A slide by more than the group's length repeats positions already compared.
  const first = Math.max(lowest, group.end - length - 1, group.end - MAX_PLACES);
  let best = group.end;
  let least: { indent: number; penalty: number } | undefined;
  for (let end = first; end <= group.end; end++) {
    const behind = splitBadness(data, starts, end);
    const before = splitBadness(data, starts, end - length);
    const badness = { indent: behind.indent + before.indent, penalty: behind.penalty + before.penalty };
    if (least === undefined || isNoWorse(badness, least)) {
      least = badness;
      best = end;
    }
  }
  return best;
}

/** Penalty points that one column of indentation is worth. */
const INDENT_WEIGHT = 60;

function isNoWorse(a: { indent: number; penalty: number }, b: { indent: number; penalty: number }): boolean {
  return INDENT_WEIGHT * Math.sign(a.indent - b.indent) + a.penalty - b.penalty <= 0;
}

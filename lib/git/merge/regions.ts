import { asBuffer } from '../../bytes/as-buffer.ts';
import { diffTexts, type LineEdit, type TextDiff } from '../diff/hunks.ts';
import { lineStarts } from '../diff/line-starts.ts';
import type { DiffAlgorithm } from '../diff/lines.ts';
import type { StepBudget } from '../diff/myers.ts';
import type { Steps } from '../work.ts';

/** Lines [start, end) of one text, counted from 0. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** A region in which at least one side differs from the base; the text between regions is the same everywhere. */
export interface Region {
  /** The side that changed it (`ours` if both made the same change), or a conflict. */
  readonly outcome: 'ours' | 'theirs' | 'conflict';
  /** Both sides changed it, to the same text. */
  readonly agreed?: true;
  readonly ours: Range;
  readonly theirs: Range;
}

export interface Side {
  readonly data: Uint8Array;
  readonly starts: Int32Array;
}

export interface RegionOptions {
  readonly algorithm: DiffAlgorithm;
  readonly budget: StepBudget;
  /** Joins conflicts unless there is a letter or digit between them (`git merge-file`). */
  readonly joinUnlessAlphanumeric: boolean;
}

/**
 * Three-way comparison after S. Khanna, K. Kunal and B. C. Pierce, "A Formal Investigation of Diff3" (2007), with
 * git's refinements: changes that touch are one region; a conflict is narrowed to the lines in which the sides
 * differ from each other, and conflicts with at most three lines between them are joined.
 *
 * @returns undefined when the texts are too large to compare
 */
export function* mergeRegions(
  base: Uint8Array,
  ours: Uint8Array,
  theirs: Uint8Array,
  options: RegionOptions,
): Steps<Region[] | undefined> {
  const ourDiff = yield* compare(base, ours, options);
  const theirDiff = ourDiff && (yield* compare(base, theirs, options));
  if (!ourDiff || !theirDiff) return undefined;
  const [ourSide, theirSide] = [sideOf(ours), sideOf(theirs)];
  const regions: Region[] = [];
  for (const cluster of clusters(ourDiff.edits, theirDiff.edits)) {
    const region = resolveCluster(cluster, ourSide, theirSide);
    if (region === undefined) continue;
    const narrow =
      region.outcome === 'conflict' ? yield* narrowed(region, ourSide, theirSide, options) : [region];
    if (narrow === undefined) return undefined;
    regions.push(...narrow);
  }
  return joined(regions, ourSide, options.joinUnlessAlphanumeric);
}

export function sideOf(data: Uint8Array): Side {
  return { data, starts: lineStarts(data) };
}

function compare(base: Uint8Array, side: Uint8Array, options: RegionOptions): Steps<TextDiff | undefined> {
  const { algorithm, budget } = options;
  return diffTexts(base, side, { algorithm, budget, indentHeuristic: false });
}

/** Edits of both sides whose ranges in the base overlap or touch, and the line shift before them. */
interface Cluster {
  readonly base: { start: number; end: number };
  readonly ours: LineEdit[];
  readonly theirs: LineEdit[];
  /** Added to a base line number before the cluster, gives the line number in the side. */
  readonly ourShift: number;
  readonly theirShift: number;
}

function clusters(ours: readonly LineEdit[], theirs: readonly LineEdit[]): Cluster[] {
  const found: Cluster[] = [];
  let [i, j, ourShift, theirShift] = [0, 0, 0, 0];
  while (i < ours.length || j < theirs.length) {
    const start = Math.min(ours[i]?.oldStart ?? Infinity, theirs[j]?.oldStart ?? Infinity);
    const cluster: Cluster = { base: { start, end: start }, ours: [], theirs: [], ourShift, theirShift };
    const reaches = (edit: LineEdit | undefined): edit is LineEdit =>
      edit !== undefined && edit.oldStart <= cluster.base.end;
    for (;;) {
      const [our, their] = [ours[i], theirs[j]];
      if (reaches(our)) {
        cluster.ours.push(our);
        cluster.base.end = Math.max(cluster.base.end, our.oldEnd);
        ourShift = our.newEnd - our.oldEnd;
        i++;
      } else if (reaches(their)) {
        cluster.theirs.push(their);
        cluster.base.end = Math.max(cluster.base.end, their.oldEnd);
        theirShift = their.newEnd - their.oldEnd;
        j++;
      } else break;
    }
    found.push(cluster);
  }
  return found;
}

/** @returns undefined when both sides made the same single edit */
function resolveCluster(cluster: Cluster, ourSide: Side, theirSide: Side): Region | undefined {
  const ours = rangeIn(cluster.base, cluster.ours, cluster.ourShift);
  const theirs = rangeIn(cluster.base, cluster.theirs, cluster.theirShift);
  if (cluster.theirs.length === 0) return { outcome: 'ours', ours, theirs };
  if (cluster.ours.length === 0) return { outcome: 'theirs', ours, theirs };
  const [our, their] = [cluster.ours[0]!, cluster.theirs[0]!];
  const single = cluster.ours.length === 1 && cluster.theirs.length === 1;
  const sameLines = our.oldStart === their.oldStart && our.oldEnd === their.oldEnd;
  if (single && sameLines && sameText(ourSide, ours, theirSide, theirs)) return undefined;
  return { outcome: 'conflict', ours, theirs };
}

/** The range in a side that corresponds to a range of the base. */
function rangeIn(base: Range, edits: readonly LineEdit[], shift: number): Range {
  const last = edits.at(-1);
  return { start: base.start + shift, end: base.end + (last ? last.newEnd - last.oldEnd : shift) };
}

function sameText(a: Side, aRange: Range, b: Side, bRange: Range): boolean {
  return Buffer.compare(textOf(a, aRange), textOf(b, bRange)) === 0;
}

function textOf({ data, starts }: Side, { start, end }: Range): Uint8Array {
  return data.subarray(starts[start]!, starts[end]!);
}

/** Removes the lines that both sides have in common from a conflict. */
function* narrowed(
  region: Region,
  ourSide: Side,
  theirSide: Side,
  options: RegionOptions,
): Steps<Region[] | undefined> {
  const { ours, theirs } = region;
  if (ours.start === ours.end || theirs.start === theirs.end) return [region];
  const diff = yield* compare(textOf(ourSide, ours), textOf(theirSide, theirs), options);
  if (diff === undefined) return undefined;
  if (diff.edits.length === 0) return [{ outcome: 'ours', agreed: true, ours, theirs }];
  return diff.edits.map((edit) => ({
    outcome: 'conflict',
    ours: { start: ours.start + edit.oldStart, end: ours.start + edit.oldEnd },
    theirs: { start: theirs.start + edit.newStart, end: theirs.start + edit.newEnd },
  }));
}

/** Conflicts with at most this many lines between them are joined. */
const MAX_GAP_LINES = 3;

function joined(regions: readonly Region[], ourSide: Side, joinUnlessAlphanumeric: boolean): Region[] {
  const result: Region[] = [];
  for (const region of regions) {
    const last = result.at(-1);
    if (last?.outcome === 'conflict' && region.outcome === 'conflict') {
      const between = { start: last.ours.end, end: region.ours.start };
      const near = between.end - between.start <= MAX_GAP_LINES;
      if (near || (joinUnlessAlphanumeric && !/[0-9A-Za-z]/.test(latin1(textOf(ourSide, between))))) {
        result[result.length - 1] = {
          outcome: 'conflict',
          ours: { start: last.ours.start, end: region.ours.end },
          theirs: { start: last.theirs.start, end: region.theirs.end },
        };
        continue;
      }
    }
    result.push(region);
  }
  return result;
}

function latin1(bytes: Uint8Array): string {
  return asBuffer(bytes).toString('latin1');
}

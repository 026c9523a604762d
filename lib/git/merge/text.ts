import { type DiffAlgorithm, MAX_DIFF_STEPS } from '../diff/lines.ts';
import type { StepBudget } from '../diff/myers.ts';
import type { Steps } from '../work.ts';
import { mergeRegions, type Range, type Region, type Side, sideOf } from './regions.ts';

export interface MergeTextOptions {
  /** Labels after the markers; none when absent. */
  readonly labels?: { readonly ours?: string; readonly theirs?: string };
  /** Characters of a marker; default 7. */
  readonly markerSize?: number;
  /** Default `histogram`, as in git's `ort` merges; `git merge-file` uses `myers`. */
  readonly algorithm?: DiffAlgorithm;
  /** As in `git merge-file`: joins conflicts with no letter or digit between them. Default false. */
  readonly joinUnlessAlphanumeric?: boolean;
  readonly budget?: StepBudget;
}

export interface MergedText {
  readonly data: Buffer;
  /** Number of conflicts; 0 when clean. */
  readonly conflicts: number;
}

/**
 * Three-way merge of texts, as `git merge-file` does.
 *
 * @returns undefined when they are too large to compare, or differ too much
 */
export function* mergeTexts(
  base: Uint8Array,
  ours: Uint8Array,
  theirs: Uint8Array,
  options: MergeTextOptions = {},
): Steps<MergedText | undefined> {
  const { algorithm = 'histogram', joinUnlessAlphanumeric = false } = options;
  const budget = options.budget ?? { steps: MAX_DIFF_STEPS };
  const regions = yield* mergeRegions(base, ours, theirs, { algorithm, joinUnlessAlphanumeric, budget });
  if (regions === undefined) return undefined;
  const writer = new Writer(sideOf(base), sideOf(ours), sideOf(theirs), options);
  return { data: writer.write(regions), conflicts: regions.filter(isConflict).length };
}

function isConflict(region: Region): boolean {
  return region.outcome === 'conflict';
}

class Writer {
  readonly #base: Side;
  readonly #ours: Side;
  readonly #theirs: Side;
  readonly #options: MergeTextOptions;
  readonly #parts: Uint8Array[] = [];

  constructor(base: Side, ours: Side, theirs: Side, options: MergeTextOptions) {
    this.#base = base;
    this.#ours = ours;
    this.#theirs = theirs;
    this.#options = options;
  }

  write(regions: readonly Region[]): Buffer {
    let written = 0;
    for (const region of regions) {
      this.#copy(this.#ours, { start: written, end: region.ours.start });
      if (region.outcome === 'ours') this.#copy(this.#ours, region.ours);
      else if (region.outcome === 'theirs') this.#copy(this.#theirs, region.theirs);
      else this.#conflict(region);
      written = region.ours.end;
    }
    this.#copy(this.#ours, { start: written, end: this.#ours.starts.length - 1 });
    return Buffer.concat(this.#parts);
  }

  #copy({ data, starts }: Side, { start, end }: Range): void {
    if (start < end) this.#parts.push(data.subarray(starts[start]!, starts[end]!));
  }

  #conflict({ ours, theirs }: Region): void {
    const { labels = {} } = this.#options;
    const newline = this.#usesCrlf(ours.start, theirs.start) ? '\r\n' : '\n';
    this.#marker('<', labels.ours, newline);
    this.#closed(this.#ours, ours, newline);
    this.#marker('=', undefined, newline);
    this.#closed(this.#theirs, theirs, newline);
    this.#marker('>', labels.theirs, newline);
  }

  /** Writes the lines, with a newline after the last one if it has none, because a marker follows. */
  #closed(side: Side, range: Range, newline: string): void {
    this.#copy(side, range);
    if (range.start < range.end && side.data[side.starts[range.end]! - 1] !== 0x0a) {
      this.#parts.push(Buffer.from(newline));
    }
  }

  #marker(character: string, label: string | undefined, newline: string): void {
    const text = character.repeat(this.#options.markerSize ?? 7);
    this.#parts.push(Buffer.from(`${text}${label ? ` ${label}` : ''}${newline}`));
  }

  /** Whether markers end in CRLF: if the lines before them do on both sides, and the base's first line does. */
  #usesCrlf(ourLine: number, theirLine: number): boolean {
    let crlf = endsInCrlf(this.#ours, Math.max(0, ourLine - 1));
    if (crlf !== false) crlf = endsInCrlf(this.#theirs, Math.max(0, theirLine - 1));
    if (crlf !== false) crlf = endsInCrlf(this.#base, 0);
    return crlf ?? false;
  }
}

/** Undefined when the text has no complete line. */
function endsInCrlf({ data, starts }: Side, line: number): boolean | undefined {
  const lines = starts.length - 1;
  let tested = line;
  if (lines === 0) return undefined;
  if (tested >= lines - 1) {
    tested = lines - 1;
    if (data[starts[lines]! - 1] !== 0x0a) tested--;
    if (tested < 0) return undefined;
  }
  const end = starts[tested + 1]!;
  return end - starts[tested]! > 1 && data[end - 2] === 0x0d;
}

import { type Oid, oidBytes } from '../oid.ts';
import { CommitQueue } from '../pack/commit-queue.ts';
import { COMMIT } from '../pack/entry.ts';
import type { PackObjects } from '../pack/pack-objects.ts';
import { parseCommitLinks } from '../parse.ts';
import type { NumberedHistory } from './numbered-history.ts';
import type { Numbering } from './object-set.ts';

/** The newest tips, this many, get a bitmap. */
const MAX_TIPS = 1000;
/** Among the newest `RECENT_COMMITS`, one commit in this many; before those, at growing intervals up to the maximum. */
const RECENT_INTERVAL = 100;
const RECENT_COMMITS = 20_000;
const MAX_INTERVAL = 5000;
const SLICE_MS = 30;

/** Closures of a former selection. */
export interface KnownClosures {
  /** Whether the selection was made of this commit too. */
  covers(number: number): boolean;
  has(number: number): boolean;
}

interface Row {
  readonly number: number;
  readonly parents: readonly number[];
  readonly date: number;
  readonly isTip: boolean;
  queued: boolean;
  /** Length of the longest path to a root. */
  generation: number;
}

/**
 * Selects the commits whose closures are stored: tips, because clients want them, and commits at intervals along the
 * history, shorter ones where it is new, because clients have them; preferably merges (V. Marti, "Counting Objects").
 * Reads all commits. Missing trees and blobs are found later, by the builder.
 */
export class CommitSelection {
  readonly #numbers: Numbering;
  readonly #tips: readonly Oid[];
  readonly #history: NumberedHistory | undefined;
  readonly #known: KnownClosures | undefined;
  #tip = 0;
  readonly #queue = new CommitQueue();
  readonly #rows = new Map<number, Row>();
  /** In the order they left the queue. */
  readonly #order: Row[] = [];

  /**
   * @param tips commits
   * @param history of all that they reach
   * @param known of a former selection, which is kept where it goes
   */
  constructor(
    numbers: Numbering,
    tips: readonly Oid[],
    {
      history,
      known,
    }: { readonly history?: NumberedHistory | undefined; readonly known?: KnownClosures | undefined },
  ) {
    this.#numbers = numbers;
    this.#tips = tips;
    this.#history = history;
    this.#known = known;
  }

  /** Works for some milliseconds, and notes the type of all commits. @returns whether all are read */
  advance(objects: PackObjects): boolean {
    const until = performance.now() + SLICE_MS;
    for (let steps = 1; ; steps++) {
      if ((steps & 63) === 0 && performance.now() > until) return false;
      if (this.#tip < this.#tips.length) {
        const tip = this.#numbers.number(oidBytes(this.#tips[this.#tip]!), 0);
        this.#load(objects, tip, true);
        this.#enqueue(tip);
        this.#tip++;
      } else if (this.#queue.length === 0) return true;
      else {
        const row = this.#rows.get(this.#queue.peek())!;
        for (const parent of row.parents) this.#load(objects, parent, false);
        this.#queue.pop();
        this.#order.push(row);
        for (const parent of row.parents) this.#enqueue(parent);
      }
    }
  }

  #load(objects: PackObjects, number: number, isTip: boolean): void {
    if (this.#rows.has(number)) return;
    const { parents, date } = this.#history?.links(number) ?? this.#read(objects, number);
    this.#numbers.setType(number, COMMIT);
    this.#rows.set(number, { number, parents, date, isTip, queued: false, generation: 0 });
  }

  #read(objects: PackObjects, number: number): Pick<Row, 'parents' | 'date'> {
    const { parents, committed } = parseCommitLinks(objects.read(this.#numbers.oid(number)).data);
    const numbers = parents.map((parent) => this.#numbers.number(oidBytes(parent), 0));
    return { parents: numbers, date: committed };
  }

  #enqueue(number: number): void {
    const row = this.#rows.get(number)!;
    if (!row.queued) this.#queue.push(number, row.date);
    row.queued = true;
  }

  /** Numbers of the selected commits, ancestors first. */
  chosen(): number[] {
    const chosen = new Set<Row>();
    let since = 0;
    let tips = 0;
    for (const [i, row] of this.#order.entries()) {
      since++;
      const distance =
        i < RECENT_COMMITS
          ? RECENT_INTERVAL
          : Math.min(MAX_INTERVAL, RECENT_INTERVAL + ((i - RECENT_COMMITS) >> 2));
      const due = i === 0 || this.#isDue(row, since / distance);
      if (!due && !(row.isTip && tips < MAX_TIPS)) continue;
      if (row.isTip) tips++;
      if (due) since = 0;
      chosen.add(row);
    }
    this.#countGenerations();
    return [...chosen].sort((a, b) => a.generation - b.generation).map(({ number }) => number);
  }

  /** @param share of the interval that has passed */
  #isDue({ number, parents }: Row, share: number): boolean {
    // Former ones are half an interval apart, at most a whole one.
    if (this.#known?.covers(number)) return share >= 2 || (share >= 0.5 && this.#known.has(number));
    // From half the interval on, take a merge; at its end, take any commit.
    return share >= 1 || (share >= 0.5 && parents.length > 1);
  }

  /** Commit dates may be wrong: generation numbers tell which commit is an ancestor. */
  #countGenerations(): void {
    const rows = this.#rows;
    for (const start of this.#order) {
      const stack = [start];
      for (let row = stack.at(-1); row !== undefined; row = stack.at(-1)) {
        let highest = 0;
        const waits = stack.length;
        if (row.generation === 0) {
          for (const parent of row.parents) {
            const { generation } = rows.get(parent)!;
            if (generation === 0) stack.push(rows.get(parent)!);
            highest = Math.max(highest, generation);
          }
        }
        if (stack.length > waits) continue;
        if (row.generation === 0) row.generation = highest + 1;
        stack.pop();
      }
    }
  }
}

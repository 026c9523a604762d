import { Effort, type Steps } from '../work.ts';

/**
 * The shortest edit script between two sequences of numbers, after E. W. Myers, "An O(ND) Difference
 * Algorithm and Its Variations" (1986), in its linear-space form: the middle of a shortest path is found
 * by searching from both corners, and both halves are solved the same way.
 *
 * For very different sequences that costs too much, so a long search accepts a good split point instead of the best,
 * as GNU diff and git do without `--minimal`: after {@link LONG_SEARCH} rounds the end of a long run of matches that
 * is far enough ahead, and after about the square root of the number of diagonals the furthest reaching point.
 *
 * @returns false when `budget` ran out: then only part of the changes is marked
 */
export function markChanges(
  a: Int32Array,
  b: Int32Array,
  mark: ChangeMarks,
  budget: StepBudget = { steps: Infinity },
): Steps<boolean> {
  return new Search(a, b, budget).mark(mark);
}

/** Points of the edit graph that may still be visited, about 300 million a second. Counted down. */
export interface StepBudget {
  steps: number;
}

/** Receives the items that are not part of the common subsequence. */
export interface ChangeMarks {
  deleted(index: number): void;
  inserted(index: number): void;
}

/** The length of a run of matches that a split point may follow. */
const LONG_RUN = 20;
/** Rounds after which a split after a long run is accepted. */
const LONG_SEARCH = 256;
/** The progress of such a split point must be more than this many times its round. */
const PROGRESS = 4;
/** Minimum number of rounds after which any split is accepted. */
const MIN_ROUNDS = 256;

/** What a cut costs beside its steps. */
const CUT_EFFORT = 100;

const FAR = 0x7fffffff;

/** A rectangle of the edit graph: a[aLow..aHigh) against b[bLow..bHigh). */
interface Box {
  aLow: number;
  aHigh: number;
  bLow: number;
  bHigh: number;
  /** Whether it must be solved optimally. */
  exact: boolean;
}

interface Cut {
  readonly a: number;
  readonly b: number;
  /** Whether the part before the cut, and the part after it, must be solved optimally. */
  readonly exactBefore: boolean;
  readonly exactBehind: boolean;
}

class Search {
  readonly #a: Int32Array;
  readonly #b: Int32Array;
  /** Furthest point per diagonal a - b, from the start and from the end; stored at a - b + #shift. */
  readonly #forward: Int32Array;
  readonly #backward: Int32Array;
  readonly #shift: number;
  readonly #maxRounds: number;
  readonly #budget: StepBudget;
  readonly #effort = new Effort();
  #steps = 0;

  constructor(a: Int32Array, b: Int32Array, budget: StepBudget) {
    this.#budget = budget;
    this.#a = a;
    this.#b = b;
    const diagonals = a.length + b.length + 3;
    this.#forward = new Int32Array(diagonals);
    this.#backward = new Int32Array(diagonals);
    this.#shift = b.length + 1;
    this.#maxRounds = Math.max(MIN_ROUNDS, roughRoot(diagonals));
  }

  *mark(mark: ChangeMarks): Steps<boolean> {
    const open: Box[] = [{ aLow: 0, aHigh: this.#a.length, bLow: 0, bHigh: this.#b.length, exact: false }];
    while (open.length > 0) {
      if (!this.#some(open, mark)) return false;
      if (open.length > 0) yield;
    }
    return true;
  }

  /**
   * Solves boxes until it is time to stop. A cut takes a few milliseconds at most: the square of the rounds of a search.
   * @returns false when the budget ran out
   */
  #some(open: Box[], mark: ChangeMarks): boolean {
    for (let box = open.pop(); box !== undefined; box = open.pop()) {
      this.#trim(box);
      if (box.aLow === box.aHigh) {
        for (let i = box.bLow; i < box.bHigh; i++) mark.inserted(i);
      } else if (box.bLow === box.bHigh) {
        for (let i = box.aLow; i < box.aHigh; i++) mark.deleted(i);
      } else {
        const before = this.#steps;
        const cut = this.#cut(box);
        if (cut === undefined) return false;
        open.push(
          { aLow: cut.a, aHigh: box.aHigh, bLow: cut.b, bHigh: box.bHigh, exact: cut.exactBehind },
          { aLow: box.aLow, aHigh: cut.a, bLow: box.bLow, bHigh: cut.b, exact: cut.exactBefore },
        );
        if (this.#effort.spend(this.#steps - before + CUT_EFFORT)) return true;
      }
    }
    return true;
  }

  /** Removes the common head and tail. */
  #trim(box: Box): void {
    const a = this.#a;
    const b = this.#b;
    while (box.aLow < box.aHigh && box.bLow < box.bHigh && a[box.aLow] === b[box.bLow]) {
      box.aLow++;
      box.bLow++;
    }
    while (box.aLow < box.aHigh && box.bLow < box.bHigh && a[box.aHigh - 1] === b[box.bHigh - 1]) {
      box.aHigh--;
      box.bHigh--;
    }
  }

  /** The point where a shortest path crosses the box's middle, or a good guess; undefined when the budget ran out. */
  #cut(box: Box): Cut | undefined {
    const { aLow, aHigh, bLow, bHigh } = box;
    const [a, b, forward, backward, shift] = [this.#a, this.#b, this.#forward, this.#backward, this.#shift];
    const lowest = aLow - bHigh;
    const highest = aHigh - bLow;
    const start = aLow - bLow;
    const end = aHigh - bHigh;
    const meetForward = ((start - end) & 1) !== 0;
    let [fMin, fMax, bMin, bMax] = [start, start, end, end];
    forward[start + shift] = aLow;
    backward[end + shift] = aHigh;

    for (let round = 1; ; round++) {
      let longRun = false;
      const steps = (fMax - fMin + (bMax - bMin)) / 2 + 2;
      this.#steps += steps;
      this.#budget.steps -= steps;
      if (this.#budget.steps < 0) return undefined;

      if (fMin > lowest) forward[--fMin - 1 + shift] = -1;
      else fMin++;
      if (fMax < highest) forward[++fMax + 1 + shift] = -1;
      else fMax--;
      for (let d = fMax; d >= fMin; d -= 2) {
        const below = forward[d - 1 + shift]!;
        const above = forward[d + 1 + shift]!;
        const from = below >= above ? below + 1 : above;
        let x = from;
        for (let y = x - d; x < aHigh && y < bHigh && a[x] === b[y]; y++) x++;
        if (x - from > LONG_RUN) longRun = true;
        forward[d + shift] = x;
        if (meetForward && d >= bMin && d <= bMax && backward[d + shift]! <= x) {
          return { a: x, b: x - d, exactBefore: true, exactBehind: true };
        }
      }

      if (bMin > lowest) backward[--bMin - 1 + shift] = FAR;
      else bMin++;
      if (bMax < highest) backward[++bMax + 1 + shift] = FAR;
      else bMax--;
      for (let d = bMax; d >= bMin; d -= 2) {
        const below = backward[d - 1 + shift]!;
        const above = backward[d + 1 + shift]!;
        const from = below < above ? below : above - 1;
        let x = from;
        for (let y = x - d; x > aLow && y > bLow && a[x - 1] === b[y - 1]; y--) x--;
        if (from - x > LONG_RUN) longRun = true;
        backward[d + shift] = x;
        if (!meetForward && d >= fMin && d <= fMax && x <= forward[d + shift]!) {
          return { a: x, b: x - d, exactBefore: true, exactBehind: true };
        }
      }

      if (box.exact) continue;
      if (longRun && round > LONG_SEARCH) {
        const cut = this.#behindRun(box, round, fMin, fMax) ?? this.#beforeRun(box, round, bMin, bMax);
        if (cut) return cut;
      }
      if (round >= this.#maxRounds) return this.#furthest(box, fMin, fMax, bMin, bMax);
    }
  }

  /** The forward point with the most progress that ends a long run of matches. */
  #behindRun(box: Box, round: number, min: number, max: number): Cut | undefined {
    const { aLow, aHigh, bLow, bHigh } = box;
    let best = 0;
    let at: [number, number] | undefined;
    for (let d = max; d >= min; d -= 2) {
      const x = this.#forward[d + this.#shift]!;
      const y = x - d;
      const progress = x - aLow + (y - bLow) - Math.abs(d - (aLow - bLow));
      if (progress <= PROGRESS * round || progress <= best) continue;
      if (x < aLow + LONG_RUN || x >= aHigh || y < bLow + LONG_RUN || y >= bHigh) continue;
      if (!this.#matches(x - LONG_RUN, y - LONG_RUN)) continue;
      best = progress;
      at = [x, y];
    }
    return at && { a: at[0], b: at[1], exactBefore: true, exactBehind: false };
  }

  /** The same from the end: the backward point that begins a long run. */
  #beforeRun(box: Box, round: number, min: number, max: number): Cut | undefined {
    const { aLow, aHigh, bLow, bHigh } = box;
    let best = 0;
    let at: [number, number] | undefined;
    for (let d = max; d >= min; d -= 2) {
      const x = this.#backward[d + this.#shift]!;
      const y = x - d;
      const progress = aHigh - x + (bHigh - y) - Math.abs(d - (aHigh - bHigh));
      if (progress <= PROGRESS * round || progress <= best) continue;
      if (x <= aLow || x > aHigh - LONG_RUN || y <= bLow || y > bHigh - LONG_RUN) continue;
      if (!this.#matches(x, y)) continue;
      best = progress;
      at = [x, y];
    }
    return at && { a: at[0], b: at[1], exactBefore: false, exactBehind: true };
  }

  /** The furthest reaching point of either search; the side it was reached from must be solved optimally. */
  #furthest(box: Box, fMin: number, fMax: number, bMin: number, bMax: number): Cut {
    const { aLow, aHigh, bLow, bHigh } = box;
    let ahead = -1;
    let aheadX = -1;
    for (let d = fMax; d >= fMin; d -= 2) {
      let x = Math.min(this.#forward[d + this.#shift]!, aHigh);
      if (x - d > bHigh) x = bHigh + d;
      if (x + x - d > ahead) {
        ahead = x + x - d;
        aheadX = x;
      }
    }
    let behind = FAR;
    let behindX = FAR;
    for (let d = bMax; d >= bMin; d -= 2) {
      let x = Math.max(this.#backward[d + this.#shift]!, aLow);
      if (x - d < bLow) x = bLow + d;
      if (x + x - d < behind) {
        behind = x + x - d;
        behindX = x;
      }
    }
    return aHigh + bHigh - behind < ahead - (aLow + bLow)
      ? { a: aheadX, b: ahead - aheadX, exactBefore: true, exactBehind: false }
      : { a: behindX, b: behind - behindX, exactBefore: false, exactBehind: true };
  }

  #matches(x: number, y: number): boolean {
    for (let i = 0; i < LONG_RUN; i++) if (this.#a[x + i] !== this.#b[y + i]) return false;
    return true;
  }
}

/** A power of two near the square root: 2 to the power of half the number of bits. */
export function roughRoot(n: number): number {
  return 2 ** Math.ceil((32 - Math.clz32(n)) / 2);
}

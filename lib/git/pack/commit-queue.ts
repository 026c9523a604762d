/** A priority queue of commits by date, newest first; equal dates in insertion order (a binary heap). */
export class CommitQueue {
  readonly #commits: number[] = [];
  readonly #dates: number[] = [];
  readonly #order: number[] = [];
  readonly #held = new Set<number>();
  #serial = 0;

  get length(): number {
    return this.#commits.length;
  }

  has(commit: number): boolean {
    return this.#held.has(commit);
  }

  /** All commits in the queue: the newest first, the others in no order. */
  waiting(): readonly number[] {
    return this.#commits;
  }

  push(commit: number, date: number): void {
    this.#held.add(commit);
    let at = this.#commits.length;
    this.#commits.push(commit);
    this.#dates.push(date);
    this.#order.push(this.#serial++);
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (!this.#before(at, above)) break;
      this.#swap(at, above);
      at = above;
    }
  }

  peek(): number {
    return this.#commits[0]!;
  }

  /** The date of the first commit. */
  newest(): number {
    return this.#dates[0]!;
  }

  pop(): number {
    const commit = this.#commits[0]!;
    this.#held.delete(commit);
    const last = this.#commits.length - 1;
    this.#swap(0, last);
    this.#commits.pop();
    this.#dates.pop();
    this.#order.pop();
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      if (left >= last) break;
      const right = left + 1;
      const child = right < last && this.#before(right, left) ? right : left;
      if (!this.#before(child, at)) break;
      this.#swap(child, at);
      at = child;
    }
    return commit;
  }

  #before(a: number, b: number): boolean {
    const order = this.#dates[b]! - this.#dates[a]!;
    return order !== 0 ? order < 0 : this.#order[a]! < this.#order[b]!;
  }

  #swap(a: number, b: number): void {
    for (const column of [this.#commits, this.#dates, this.#order]) {
      const held = column[a]!;
      column[a] = column[b]!;
      column[b] = held;
    }
  }
}

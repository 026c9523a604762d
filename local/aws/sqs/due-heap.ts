/** A priority queue by due time, earliest first; items due at the same time keep the order of their addition. */
export class DueHeap<T> {
  readonly #heap: { due: number; order: number; item: T }[] = [];
  #added = 0;

  get nextDue(): number | undefined {
    return this.#heap[0]?.due;
  }

  add(due: number, item: T): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push({ due, order: this.#added++, item });
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#before(at, parent)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  /** Removes and returns the earliest item if it is due. */
  takeDue(now: number): { due: number; item: T } | undefined {
    const heap = this.#heap;
    const first = heap[0];
    if (first === undefined || first.due > now) return undefined;
    const last = heap.pop()!;
    if (heap.length > 0) {
      heap[0] = last;
      this.#sink();
    }
    return first;
  }

  #sink(): void {
    for (let at = 0; ; ) {
      let earliest = at;
      for (const child of [2 * at + 1, 2 * at + 2]) {
        if (child < this.#heap.length && this.#before(child, earliest)) earliest = child;
      }
      if (earliest === at) return;
      this.#swap(at, earliest);
      at = earliest;
    }
  }

  #before(a: number, b: number): boolean {
    const [x, y] = [this.#heap[a]!, this.#heap[b]!];
    return x.due - y.due < 0 || (x.due === y.due && x.order < y.order);
  }

  #swap(a: number, b: number): void {
    [this.#heap[a], this.#heap[b]] = [this.#heap[b]!, this.#heap[a]!];
  }
}

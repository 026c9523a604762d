import type { CommitNode } from './commit-node.ts';

/** A priority queue of commits by date, newest first; equal dates in insertion order. A binary heap. */
export class DateQueue {
  readonly #nodes: CommitNode[] = [];
  readonly #arrivals: number[] = [];
  #next = 0;

  get size(): number {
    return this.#nodes.length;
  }

  peek(): CommitNode | undefined {
    return this.#nodes[0];
  }

  /** The date of the commit that leaves the queue after the first; undefined when there is none. */
  get dateOfSecond(): number | undefined {
    const [, one, other] = this.#nodes;
    return one && other && other.date > one.date ? other.date : one?.date;
  }

  /** Up to `count` of the commits, roughly the newest: those needed soon. */
  some(count: number): readonly CommitNode[] {
    return this.#nodes.slice(0, count);
  }

  push(node: CommitNode): void {
    const arrival = this.#next++;
    let at = this.#nodes.length;
    this.#nodes.push(node);
    this.#arrivals.push(arrival);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.#nodes[parent]!.date >= node.date) break;
      this.#put(at, this.#nodes[parent]!, this.#arrivals[parent]!);
      at = parent;
    }
    this.#put(at, node, arrival);
  }

  pop(): CommitNode | undefined {
    const first = this.#nodes[0];
    const node = this.#nodes.pop();
    const arrival = this.#arrivals.pop();
    if (node === undefined || arrival === undefined || this.#nodes.length === 0) return first;
    const size = this.#nodes.length;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= size) break;
      if (child + 1 < size && this.#before(child + 1, child)) child++;
      const other = this.#nodes[child]!;
      if (node.date > other.date || (node.date === other.date && arrival < this.#arrivals[child]!)) break;
      this.#put(at, other, this.#arrivals[child]!);
      at = child;
    }
    this.#put(at, node, arrival);
    return first;
  }

  #before(a: number, b: number): boolean {
    const later = this.#nodes[a]!.date - this.#nodes[b]!.date;
    return later > 0 || (later === 0 && this.#arrivals[a]! < this.#arrivals[b]!);
  }

  #put(at: number, node: CommitNode, arrival: number): void {
    this.#nodes[at] = node;
    this.#arrivals[at] = arrival;
  }
}

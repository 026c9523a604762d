import type { CommitNode } from './commit-node.ts';

/** A priority queue of commits by generation, highest first. A binary heap. */
export class GenerationQueue {
  readonly #nodes: CommitNode[] = [];
  readonly #generations: number[] = [];

  /** Undefined when it is empty. */
  get highest(): number | undefined {
    return this.#generations[0];
  }

  peek(): CommitNode | undefined {
    return this.#nodes[0];
  }

  push(node: CommitNode, generation: number): void {
    let at = this.#nodes.length;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.#generations[parent]! >= generation) break;
      this.#put(at, this.#nodes[parent]!, this.#generations[parent]!);
      at = parent;
    }
    this.#put(at, node, generation);
  }

  pop(): CommitNode | undefined {
    const first = this.#nodes[0];
    const node = this.#nodes.pop();
    const generation = this.#generations.pop();
    const size = this.#nodes.length;
    if (node === undefined || generation === undefined || size === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= size) break;
      if (child + 1 < size && this.#generations[child + 1]! > this.#generations[child]!) child++;
      if (generation >= this.#generations[child]!) break;
      this.#put(at, this.#nodes[child]!, this.#generations[child]!);
      at = child;
    }
    this.#put(at, node, generation);
    return first;
  }

  #put(at: number, node: CommitNode, generation: number): void {
    this.#nodes[at] = node;
    this.#generations[at] = generation;
  }
}

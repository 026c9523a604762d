/**
 * Passes bytes (progress, a report) from independent work to a consumer that may start late or stop early. The work
 * never waits for the consumer, so the output must be small.
 */
export class OutputQueue implements AsyncIterable<Uint8Array> {
  #pieces: Uint8Array[] = [];
  #ended = false;
  #wake: (() => void) | undefined;

  push(...pieces: readonly Uint8Array[]): void {
    for (const piece of pieces) if (piece.length > 0) this.#pieces.push(piece);
    this.#wake?.();
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    for (;;) {
      const pieces = this.#pieces;
      this.#pieces = [];
      yield* pieces;
      if (this.#pieces.length > 0) continue;
      if (this.#ended) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
  }
}

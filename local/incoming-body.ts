import type { IncomingMessage } from 'node:http';

/** How much of an unwanted body is read and discarded: a client that cannot finish sending misses the answer. */
const MAX_DISCARDED_BYTES = 256 * 1024 * 1024;
/** How long the next bytes of an unwanted body may take. */
const DISCARD_IDLE_MS = 5000;

/** The body of a request, read only as far as it is asked for. */
export class IncomingBody {
  readonly #request: IncomingMessage;
  readonly #chunks: AsyncIterator<Buffer>;
  /** What `whole` has read in vain. */
  #held: Buffer[] = [];

  constructor(request: IncomingMessage) {
    this.#request = request;
    this.#chunks = request.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>;
  }

  /** @returns undefined if the body is longer than `limit`; `stream` then still has all of it */
  async whole(limit: number): Promise<Uint8Array | undefined> {
    if (Number(this.#request.headers['content-length'] ?? 0) > limit) return undefined;
    for (let size = 0; ; ) {
      const { done, value } = await this.#chunks.next();
      if (done) return Buffer.concat(this.#held, size);
      this.#held.push(value);
      size += value.length;
      if (size > limit) return undefined;
    }
  }

  stream(): ReadableStream<Uint8Array> {
    return new ReadableStream(
      {
        pull: async (controller) => {
          const held = this.#held.shift();
          const { done, value } =
            held === undefined ? await this.#chunks.next() : { done: false, value: held };
          if (done) controller.close();
          else controller.enqueue(value as Buffer);
        },
      },
      { highWaterMark: 0 },
    );
  }

  /** Reads the rest without keeping it, for a bounded time and amount. Never fails. */
  async discard(): Promise<void> {
    this.#held = [];
    const { socket } = this.#request;
    // Ends the read that waits.
    const idle = setTimeout(() => this.#request.destroy(), DISCARD_IDLE_MS);
    try {
      for (let size = 0; size <= MAX_DISCARDED_BYTES && !socket.destroyed; ) {
        const { done, value } = await this.#chunks.next();
        if (done) return;
        size += value.length;
        idle.refresh();
      }
    } catch {
      // The client has gone.
    } finally {
      clearTimeout(idle);
    }
  }
}

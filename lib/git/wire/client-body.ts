import { WireError } from './error.ts';
import type { Body } from './request-body.ts';

/** Bytes read and discarded, so that a client can finish sending and then read why it was refused. */
const MAX_DISCARD = 2 ** 30;

/**
 * A request body that outlives its readers. git does not read the answer before it has sent everything: when a reader
 * stops early, the source must not be ended, which would break the connection, and the rest must be read, else both
 * sides would wait for each other.
 */
export class ClientBody implements AsyncIterable<Uint8Array> {
  readonly #source: AsyncIterator<Uint8Array>;

  constructor(body: Body) {
    this.#source = body[Symbol.asyncIterator]();
  }

  /** Continues where the last reader stopped. An error of the source means that the client has disconnected. */
  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return {
      next: () =>
        this.#source.next().catch((cause: unknown) => {
          throw new WireError('truncated', 'the request was interrupted', { cause });
        }),
    };
  }

  /** Sends `answer`, then reads the rest of the request before it ends. */
  async *answeredBy(
    answer: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    yield* answer;
    let discarded = 0;
    try {
      for await (const piece of this) if ((discarded += piece.length) > MAX_DISCARD) return;
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
    }
  }
}

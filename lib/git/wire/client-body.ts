import { WireError } from './error.ts';
import type { Body } from './request-body.ts';

/** Bytes read for nothing, so that a client can end what it sends and read why it was refused. */
const MAX_DISCARD = 2 ** 30;

/**
 * A request's body that outlives its readers. git reads no answer before it has sent everything: a reader that
 * stops early must neither end the source, which would break the connection, nor leave the rest unread, which
 * would leave both sides waiting.
 */
export class ClientBody implements AsyncIterable<Uint8Array> {
  readonly #source: AsyncIterator<Uint8Array>;

  constructor(body: Body) {
    this.#source = body[Symbol.asyncIterator]();
  }

  /** Goes on where the last reader stopped. What the source throws means that the client is gone. */
  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return {
      next: () =>
        this.#source.next().catch((cause: unknown) => {
          throw new WireError('truncated', 'the request broke off', { cause });
        }),
    };
  }

  /** `answer`, which does not end before the request has. */
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

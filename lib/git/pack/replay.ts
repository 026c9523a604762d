/**
 * Total bytes that all replays of the process keep: more than the largest response that a Lambda function can stream
 * (200 MB), and small beside the memory of one that reads repositories.
 */
const MAX_KEPT = 256 * 2 ** 20;
let kept = 0;

/** Counts what a replay keeps. Apart from it, so that the count is right when a replay is only forgotten. */
interface Account {
  bytes: number;
}
function close(account: Account): void {
  kept -= account.bytes;
  account.bytes = 0;
}
const forgotten = new FinalizationRegistry(close);

/** Pieces of a file that are read twice: the second time from memory, or from the file again if there was no room. */
export class Replay {
  readonly #read: () => AsyncIterable<Uint8Array>;
  readonly #limit: number;
  readonly #account: Account = { bytes: 0 };
  /** Undefined: not all of them fit, or they are no longer needed. */
  #pieces: Uint8Array[] | undefined = [];

  /** @param read starts to read the pieces, which must keep their content */
  constructor(read: () => AsyncIterable<Uint8Array>, limit = MAX_KEPT) {
    this.#read = read;
    this.#limit = limit;
    forgotten.register(this, this.#account);
  }

  /** The pieces, as many as the caller needs; one use. */
  async *first(): AsyncGenerator<Uint8Array> {
    for await (const piece of this.#read()) {
      this.#keep(piece);
      yield piece;
    }
  }

  /** The pieces that were read at first; one use. */
  async *second(): AsyncGenerator<Uint8Array> {
    if (this.#pieces === undefined) yield* this.#read();
    else yield* this.#pieces;
  }

  /** Frees the memory. */
  drop(): void {
    close(this.#account);
    this.#pieces = undefined;
  }

  #keep(piece: Uint8Array): void {
    if (this.#pieces === undefined) return;
    if (kept + piece.length > this.#limit) {
      this.drop();
      return;
    }
    kept += piece.length;
    this.#account.bytes += piece.length;
    this.#pieces.push(piece);
  }
}

/** Bytes that replays keep now. */
export const keptBytes = (): number => kept;

/** Bytes of a piece that is worth being passed on by itself. */
export const PIECE_BYTES = 64 * 1024;

/** Puts small pieces together: each that is passed on costs everyone who passes it on the same, whatever its size. */
export async function* gathered(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let waiting: Uint8Array[] = [];
  let size = 0;
  for await (const piece of source) {
    waiting.push(piece);
    size += piece.length;
    if (size < PIECE_BYTES) continue;
    yield waiting.length === 1 ? piece : Buffer.concat(waiting);
    waiting = [];
    size = 0;
  }
  if (size > 0) yield Buffer.concat(waiting);
}

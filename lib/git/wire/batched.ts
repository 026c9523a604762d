const CHUNK = 65536;

/** Many small pieces joined into few of about 64 KB: a stream's cost is per piece. */
export function* batched(pieces: Iterable<Uint8Array>): Generator<Uint8Array, void, undefined> {
  let parts: Uint8Array[] = [];
  let size = 0;
  for (const piece of pieces) {
    parts.push(piece);
    size += piece.length;
    if (size >= CHUNK) {
      yield Buffer.concat(parts, size);
      parts = [];
      size = 0;
    }
  }
  if (size > 0) yield Buffer.concat(parts, size);
}

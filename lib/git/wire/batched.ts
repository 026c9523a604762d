const CHUNK = 65536;

/** Joins many small pieces into pieces of about 64 KB, because a stream has a cost per piece. */
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

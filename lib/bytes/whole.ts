import { asBuffer } from './as-buffer.ts';

/** All pieces as one, in memory: who calls it bounds their sum. A single piece is not copied. */
export async function whole(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const held: Uint8Array[] = [];
  for await (const piece of pieces) held.push(piece);
  return held.length === 1 ? asBuffer(held[0]!) : Buffer.concat(held);
}

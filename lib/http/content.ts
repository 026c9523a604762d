import { inTurns } from '../git/work.ts';
import { joined } from './joined.ts';

/** The whole of an endpoint's `content`, whose size its `bodyLimit` bounds. */
export async function readContent(content: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of content) pieces.push(piece);
  return inTurns(joined(pieces));
}

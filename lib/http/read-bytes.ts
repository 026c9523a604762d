import { tooLarge } from '../domain/errors.ts';
import { inTurns } from '../git/work.ts';
import { joined } from './joined.ts';

/** Reads a whole body. @throws `refusal` as soon as it has more bytes than the limit, whatever `Content-Length` says */
export async function readBytes(
  request: Request,
  limit: number,
  refusal: () => Error = tooLarge,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > limit) throw refusal();
    chunks.push(chunk);
  }
  return inTurns(joined(chunks));
}

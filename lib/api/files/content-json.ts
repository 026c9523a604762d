import { hash, subtle } from 'node:crypto';
import { asBuffer } from '../../bytes/as-buffer.ts';
import { nextTurn } from '../../git/work.ts';
import { weakEtag } from '../../http/conditional.ts';
import { json, type Reply, reply } from '../../http/reply.ts';

/** Bytes of content from which an answer is made in pieces, beside other work. */
const LARGE = 1024 * 1024;
/** Bytes of a piece: a multiple of three, so that the Base64 of pieces can be joined. */
const PIECE = 3 * 512 * 1024;

/**
 * The reply `{...facts, "content": "<Base64>"}`. A large one is streamed, with an entity tag of the facts.
 * @param facts must tell the content by a digest or an id
 */
export function jsonWithContent(
  facts: object,
  data: Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  const bytes = asBuffer(data);
  if (data.length < LARGE) return json({ ...facts, content: bytes.toString('base64') }, { headers });
  const head = JSON.stringify(facts);
  const ETag = weakEtag(head);
  return reply({ headers: { ...headers, ETag }, body: pieces(head, bytes), type: 'application/json' });
}

async function* pieces(head: string, data: Buffer): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`${head.slice(0, -1)},"content":"`);
  for (let at = 0; at < data.length; at += PIECE) {
    yield Buffer.from(data.toString('base64', at, Math.min(data.length, at + PIECE)), 'latin1');
    await nextTurn();
  }
  yield Buffer.from('"}');
}

/** The SHA-256 of content in hex; of large content computed in another thread. */
export async function sha256Of(data: Uint8Array): Promise<string> {
  if (data.length < LARGE) return hash('sha256', data, 'hex');
  return Buffer.from(await subtle.digest('SHA-256', data as Uint8Array<ArrayBuffer>)).toString('hex');
}

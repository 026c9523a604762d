import { refused } from '../../domain/errors.ts';
import { inTurns, type Steps } from '../../git/work.ts';
import { joined } from '../../http/joined.ts';

export const ENCODINGS = ['text', 'base64'] as const;
type Encoding = (typeof ENCODINGS)[number];

/** Characters that are decoded at once: a few milliseconds of work. */
const PIECE = 1024 * 1024;

/**
 * Decodes file content given as text or Base64 (RFC 4648; line breaks are allowed, padding is optional).
 * @throws 400 when the Base64 is malformed
 */
export async function decodeContent(text: string, encoding: Encoding, name = 'content'): Promise<Uint8Array> {
  return inTurns(encoding === 'text' ? encodeUtf8(text) : decodeBase64(text, name));
}

function* decodeBase64(text: string, name: string): Steps<Uint8Array> {
  const parts: Uint8Array[] = [];
  let rest = '';
  for (let at = 0; at < text.length; at += PIECE) {
    yield;
    rest += text.slice(at, at + PIECE).replace(/[\r\n \t]+/g, '');
    // The last four characters may be the end, with its padding.
    const whole = rest.slice(0, Math.max(0, rest.length - 4 - (rest.length % 4)));
    parts.push(decoded(whole, name));
    rest = rest.slice(whole.length);
  }
  parts.push(decoded(rest.replace(/={1,2}$/, ''), name));
  return yield* joined(parts);
}

function* encodeUtf8(text: string): Steps<Uint8Array> {
  const parts: Uint8Array[] = [];
  for (let at = 0; at < text.length || parts.length === 0; ) {
    const next = text.charCodeAt(at + PIECE);
    // Not within a pair of surrogates.
    const end = at + PIECE - (next >= 0xdc00 && next <= 0xdfff ? 1 : 0);
    parts.push(Buffer.from(text.slice(at, end), 'utf8'));
    at = end;
    yield;
  }
  return yield* joined(parts);
}

function decoded(text: string, name: string): Uint8Array {
  if (!/^[A-Za-z0-9+/]*$/.test(text) || text.length % 4 === 1) throw refused(`${name} is not valid Base64`);
  return Buffer.from(text, 'base64');
}

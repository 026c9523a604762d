import { refused } from '../../domain/errors.ts';

export const ENCODINGS = ['text', 'base64'] as const;

/**
 * Decodes file content given as text or Base64 (RFC 4648; line breaks are allowed, padding is optional).
 * @throws 400 when the Base64 is malformed
 */
export function decodeContent(
  text: string,
  encoding: (typeof ENCODINGS)[number],
  name = 'content',
): Uint8Array {
  if (encoding === 'text') return Buffer.from(text, 'utf8');
  const compact = text.replace(/[\r\n \t]/g, '');
  const body = compact.replace(/={0,2}$/, '');
  if (!/^[A-Za-z0-9+/]*$/.test(body) || body.length % 4 === 1) throw refused(`${name} is not valid Base64`);
  return Buffer.from(body, 'base64');
}

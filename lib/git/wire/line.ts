import { isUtf8 } from 'node:buffer';
import { asBuffer } from '../../bytes/as-buffer.ts';
import { WireError } from './error.ts';

/**
 * A packet line's text without the one newline that senders may append (gitprotocol-common).
 * @throws WireError `request-malformed` when it is not UTF-8, because decoded names would be ambiguous
 */
export function textLine(data: Uint8Array, what = 'a line of the request'): string {
  if (!isUtf8(data)) throw new WireError('request-malformed', `${what} is not UTF-8`);
  const end = data.at(-1) === 0x0a ? data.length - 1 : data.length;
  return asBuffer(data).toString('utf8', 0, end);
}

/** Quotes client input for an error message: shortened, with control characters escaped. */
export function quoted(text: string): string {
  const cut = text.length > 100 ? `${text.slice(0, 100)}…` : text;
  return `'${cut.replace(/[\u0000-\u001f\u007f]/g, '?')}'`;
}

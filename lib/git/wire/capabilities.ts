import { WireError } from './error.ts';
import { quoted } from './line.ts';

/** Sent as `agent=`: no space or control character (gitprotocol-capabilities, "agent"). */
export const AGENT = 'lemnos/0.1.0';

/** The capabilities that a client requests: names, each with its value, or '' without one. */
export type Capabilities = ReadonlyMap<string, string>;

/** Parses `name name=value ...` as sent after the first want or the first command. */
export function parseCapabilities(text: string): Capabilities {
  const found = new Map<string, string>();
  for (const word of text.split(' ')) {
    if (word === '') continue;
    const equals = word.indexOf('=');
    if (equals < 0) found.set(word, '');
    else found.set(word.slice(0, equals), word.slice(equals + 1));
  }
  return found;
}

/** @throws WireError `unsupported` for an object format other than SHA-1 */
export function checkObjectFormat(capabilities: Capabilities): void {
  const format = capabilities.get('object-format') ?? 'sha1';
  if (format !== 'sha1') throw new WireError('unsupported', `unsupported object format ${quoted(format)}`);
}

/** The highest known version in a `Git-Protocol` header (`version=2`, colon-separated). */
export function protocolVersion(header: string | undefined): 0 | 1 | 2 {
  let version: 0 | 1 | 2 = 0;
  for (const key of (header ?? '').split(':')) {
    if (key === 'version=2') version = 2;
    else if (key === 'version=1' && version === 0) version = 1;
  }
  return version;
}

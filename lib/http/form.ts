/** Parses `application/x-www-form-urlencoded` text; also query strings. `;` is not a separator. */
import { malformed } from './errors.ts';
import { type Parameters, ParameterTree } from './rack-params.ts';

export function parseForm(text: string): Parameters {
  const tree = new ParameterTree();
  for (const [name, value] of pairsOf(text)) tree.add(decode(name), value === null ? null : decode(value));
  return tree.root;
}

/** The pairs as they are written. A name without `=` has null; with `=` and nothing after it, the empty text. */
export function* pairsOf(text: string): Generator<readonly [name: string, value: string | null]> {
  let start = 0;
  while (start <= text.length) {
    const end = text.indexOf('&', start);
    const pair = text.slice(start, end < 0 ? undefined : end);
    start = end < 0 ? text.length + 1 : end + 1;
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    yield equals < 0 ? [pair, null] : [pair.slice(0, equals), pair.slice(equals + 1)];
  }
}

/** @throws HttpFailure 400 */
export function decode(text: string): string {
  let decoded = text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (decoded.includes('%')) {
    try {
      decoded = decodeURIComponent(decoded);
    } catch {
      throw malformed('invalid %-encoding');
    }
  }
  if (decoded.includes('\0')) throw malformed('parameters may not contain NUL');
  return decoded;
}

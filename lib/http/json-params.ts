/** Parameters of a JSON body, in bounded time and memory. */
import { malformed } from './errors.ts';
import { bare, LIMITS, type Parameters } from './rack-params.ts';

/** The members of a JSON object; a body that is another JSON value has no parameters. */
export function parseJson(text: string): Parameters {
  if (text.trim() === '') return bare();
  requireModest(text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw malformed('Problems parsing JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return bare();
  return withoutPrototypes(value) as Parameters;
}

/**
 * Counts values and depth before anything is built: 32 MB of `[[],[],...` would become a heap many times that. Strings
 * are skipped whole, so a long content costs next to nothing.
 */
function requireModest(text: string): void {
  let values = 0;
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    switch (text.charCodeAt(index)) {
      case 0x22: // "
        index = endOfString(text, index);
        break;
      case 0x5b: // [
      case 0x7b: // {
        depth++;
        values++;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth--;
        break;
      case 0x2c: // ,
        values++;
    }
    if (values > LIMITS.count) throw malformed('too many parameters');
    if (depth > LIMITS.depth) throw malformed('parameters are nested too deeply');
  }
}

/** The index of the quote that ends the string which starts at `start`. */
function endOfString(text: string, start: number): number {
  for (let quote = start; ; ) {
    quote = text.indexOf('"', quote + 1);
    if (quote < 0) return text.length;
    let slashes = 0;
    while (text.charCodeAt(quote - 1 - slashes) === 0x5c) slashes++;
    if (slashes % 2 === 0) return quote;
  }
}

/** The same value with objects that have no prototype: a member `__proto__` is a member like any other. */
function withoutPrototypes(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutPrototypes);
  const copy = bare();
  for (const [name, member] of Object.entries(value)) {
    if (name.includes('\0')) throw malformed('parameter names may not contain NUL');
    copy[name] = withoutPrototypes(member);
  }
  return copy;
}

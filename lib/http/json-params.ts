/** Parses the parameters of a JSON body in bounded time and memory. */
import { malformed } from './errors.ts';
import { bare, LIMITS, type Parameters } from './rack-params.ts';

const itself = (text: string) => text;

/**
 * The fields of a JSON object; any other JSON value has no parameters.
 * @param depth levels that it may have
 * @param whole the string that another one stands for
 */
export function parseJson(text: string, depth: number = LIMITS.depth, whole = itself): Parameters {
  if (text.trim() === '') return bare();
  checkLimits(text, depth);
  const value = parsed(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return bare();
  return withoutPrototypes(value, whole) as Parameters;
}

/** The value of a JSON text. @throws HttpFailure 400 */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw malformed('Problems parsing JSON');
  }
}

/**
 * Checks the number and depth of values before parsing: 32 MB of `[[],[],...` would need a heap many times that size.
 * Strings are skipped, so that long file content costs almost nothing.
 * @throws HttpFailure 400
 */
function checkLimits(text: string, maxDepth: number): void {
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
    if (depth > maxDepth) throw malformed('parameters are nested too deeply');
  }
}

/** The index of the closing quote of the string that starts at `start`. */
function endOfString(text: string, start: number): number {
  for (let quote = start; ; ) {
    quote = text.indexOf('"', quote + 1);
    if (quote < 0) return text.length;
    let slashes = 0;
    while (text.charCodeAt(quote - 1 - slashes) === 0x5c) slashes++;
    if (slashes % 2 === 0) return quote;
  }
}

/** A copy whose objects have no prototype, so that a field `__proto__` is a field like any other. */
function withoutPrototypes(value: unknown, whole: (text: string) => string): unknown {
  if (typeof value === 'string') return whole(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => withoutPrototypes(item, whole));
  const copy = bare();
  for (const [key, member] of Object.entries(value)) {
    const name = whole(key);
    if (name.includes('\0')) throw malformed('parameter names may not contain NUL');
    copy[name] = withoutPrototypes(member, whole);
  }
  return copy;
}

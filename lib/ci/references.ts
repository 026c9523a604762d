/** `!reference`: https://docs.gitlab.com/ee/ci/yaml/yaml_optimization.html#reference-tags */
import { ConfigError } from './errors.ts';
import { Copies, type Hash, hashOf, isHash, isReference, pathOf, type Reference } from './yaml/values.ts';

const MAX_NESTING = 10;

/**
 * Puts what they name in the place of all references.
 * @throws ConfigError for one that names nothing, a circle, or more than ten levels
 */
export function resolveReferences(config: Hash): Hash {
  /** What each reference came to, so that one that is named often is resolved once. */
  const known = new Map<string, unknown>();
  const copies = new Copies();
  const resolve = (value: unknown, under: readonly string[]): unknown => {
    copies.count(1);
    if (isReference(value)) return follow(value, under);
    if (Array.isArray(value)) return value.map((item) => resolve(item, under));
    if (!isHash(value)) return value;
    return hashOf(Object.entries(value).map(([key, item]) => [key, resolve(item, under)]));
  };
  const follow = (reference: Reference, under: readonly string[]): unknown => {
    const path = pathOf(reference);
    const text = `!reference ${JSON.stringify(path)}`;
    if (known.has(text)) return known.get(text);
    if (under.includes(text)) throw new ConfigError(`${text} is part of a circular chain`);
    if (under.length >= MAX_NESTING) throw new ConfigError(`${text} is nested too deep`);
    if (path.length === 0 || !path.every((part) => typeof part === 'string'))
      throw new ConfigError(`${text} is not valid`);
    let value: unknown = config;
    for (const part of path) {
      // On the way to what is named there may be a reference too.
      const whole = isReference(value) ? follow(value, [...under, text]) : value;
      if (!isHash(whole) || !Object.hasOwn(whole, part)) throw new ConfigError(`${text} could not be found`);
      value = whole[part];
    }
    const resolved = resolve(value, [...under, text]);
    known.set(text, resolved);
    return resolved;
  };
  return resolve(config, []) as Hash;
}

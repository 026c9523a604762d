/** `!reference`: https://docs.gitlab.com/ee/ci/yaml/yaml_optimization.html#reference-tags */
import type { Steps } from '../git/work.ts';
import { ConfigError } from './errors.ts';
import {
  Copies,
  type Hash,
  hashOf,
  isHash,
  isReference,
  OF_ALL,
  pathOf,
  type Reference,
} from './yaml/values.ts';

const MAX_NESTING = 10;

/**
 * Puts what they name in the place of all references.
 * @throws ConfigError for one that names nothing, a circle, or more than ten levels
 */
export function* resolveReferences(config: Hash): Steps<Hash> {
  /** What each reference came to, so that one that is named often is resolved once. */
  const known = new Map<string, unknown>();
  // All values, and once more what references name.
  const copies = new Copies(2 * OF_ALL.values);
  /** What became of each list and hash: where aliases repeat one, it is looked at once. */
  const done = new Map<object, unknown>();
  const resolve = function* (value: unknown, under: readonly string[]): Steps<unknown> {
    if (isReference(value)) return yield* follow(value, under);
    if (!Array.isArray(value) && !isHash(value)) return value;
    if (done.has(value)) return done.get(value);
    const parts = Array.isArray(value) ? value : Object.values(value);
    if (copies.count(parts.length)) yield;
    // Most have no references, and stay what they are.
    let changed: unknown[] | undefined;
    for (const [i, part] of parts.entries()) {
      if (typeof part !== 'object' || part === null) continue;
      const whole = yield* resolve(part, under);
      if (whole === part) continue;
      changed ??= [...parts];
      changed[i] = whole;
    }
    const resolved = changed === undefined ? value : withParts(value, changed);
    done.set(value, resolved);
    return resolved;
  };
  const follow = function* (reference: Reference, under: readonly string[]): Steps<unknown> {
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
      const whole = isReference(value) ? yield* follow(value, [...under, text]) : value;
      if (!isHash(whole) || !Object.hasOwn(whole, part)) throw new ConfigError(`${text} could not be found`);
      value = whole[part];
    }
    const resolved = yield* resolve(value, [...under, text]);
    known.set(text, resolved);
    return resolved;
  };
  return (yield* resolve(config, [])) as Hash;
}

const withParts = (value: Hash | readonly unknown[], parts: readonly unknown[]): unknown =>
  Array.isArray(value) ? parts : hashOf(Object.keys(value).map((key, i) => [key, parts[i]]));

/** The values that a configuration file is made of. Anchors make one value appear in several places: nobody changes them. */
import { ConfigError } from '../errors.ts';

export type Hash = { readonly [key: string]: unknown };

/** `!reference [job, key, ...]`, before it is resolved: no other value is a map, nor is it one of another thread. */
export type Reference = ReadonlyMap<'path', readonly unknown[]>;

export const referenceTo = (path: readonly unknown[]): Reference => new Map([['path', path]]);
export const isReference = (value: unknown): value is Reference => value instanceof Map;
export const pathOf = (reference: Reference): readonly unknown[] => reference.get('path')!;

export const isHash = (value: unknown): value is Hash =>
  typeof value === 'object' &&
  value !== null &&
  [Object.prototype, null].includes(Object.getPrototypeOf(value));

/** Its own property; never one of those that every object inherits. */
export const valueAt = (hash: Hash, key: string): unknown =>
  Object.hasOwn(hash, key) ? hash[key] : undefined;

/** A hash of these entries. A key such as `__proto__` is an entry like any other. */
export const hashOf = (entries: Iterable<readonly [string, unknown]>): Hash => Object.fromEntries(entries);

/** Hashes are merged entry by entry, in depth; of all other values the later one counts. */
export function deepMerge(base: Hash, over: Hash, copies?: Copies): Hash {
  const merged = new Map(Object.entries(base));
  copies?.count(merged.size);
  for (const [key, value] of Object.entries(over)) {
    const before = merged.get(key);
    merged.set(key, isHash(before) && isHash(value) ? deepMerge(before, value, copies) : value);
  }
  return hashOf(merged);
}

/**
 * Values in a whole configuration: what anchors, `extends` and references repeat counts each time. One file of the product
 * has half as many at most: they take 40 bytes each there, of a megabyte.
 */
const MAX_VALUES = 50_000;
/** Characters of all texts in it, counted in the same way. */
const MAX_CHARACTERS = 5_000_000;

export const tooBig = (): ConfigError => new ConfigError('The parsed YAML is too big');

/** Counts the values that making a configuration copies: more than it may have in the end, and no more. */
export class Copies {
  #left = 5 * MAX_VALUES;

  /** @throws ConfigError */
  count(values: number): void {
    this.#left -= values;
    if (this.#left < 0) throw tooBig();
  }
}

/**
 * Returns how much it is to write: values, and characters as a part of one.
 * @throws ConfigError for a configuration that is small as text and large when it is written out
 */
export function requireBounded(value: unknown): number {
  let values = 0;
  let characters = 0;
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === 'string') characters += next.length;
    if (++values > MAX_VALUES || characters > MAX_CHARACTERS) throw tooBig();
    if (Array.isArray(next)) for (const item of next) open.push(item);
    else if (isHash(next)) for (const key of Object.keys(next)) open.push(next[key]);
  }
  return values + characters / 50;
}

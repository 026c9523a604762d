/** The values that a configuration file is made of. Anchors make one value appear in several places: nobody changes them. */
import type { Steps } from '../../git/work.ts';
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

/**
 * Hashes are merged entry by entry, in depth; of all other values the later one counts.
 * @throws ConfigError for more than may be copied
 */
export function* deepMerge(base: Hash, over: Hash, copies: Copies): Steps<Hash> {
  const merged = new Map(Object.entries(base));
  if (copies.count(merged.size)) yield;
  for (const [key, value] of Object.entries(over)) {
    const before = merged.get(key);
    merged.set(key, isHash(before) && isHash(value) ? yield* deepMerge(before, value, copies) : value);
  }
  if (merged.size > MAX_ENTRIES) throw tooBig();
  return hashOf(merged);
}

/** How much a file or a configuration may be: what anchors, `extends` and references repeat counts each time. */
interface Bounds {
  readonly values: number;
  /** Of all texts. */
  readonly characters: number;
}

/** Of one file, or one job. In the product a file has half as many values at most: they take 40 bytes each there, of a megabyte. */
export const OF_FILE: Bounds = { values: 50_000, characters: 5_000_000 };
/** Of a whole configuration. The product has no such bound. */
export const OF_ALL: Bounds = { values: 250_000, characters: 10_000_000 };
/** Entries of one hash: they are copied in one turn. */
const MAX_ENTRIES = 20_000;

/** Values after which work on them stops. */
const STOP = 1000;

export const tooBig = (): ConfigError => new ConfigError('The parsed YAML is too big');

/** Counts the values that making a configuration copies. */
export class Copies {
  #left: number;
  #beforeStop = STOP;

  /** @param most how many there may be */
  constructor(most = OF_ALL.values) {
    this.#left = most;
  }

  /**
   * Returns whether it is time to stop.
   * @throws ConfigError
   */
  count(values: number): boolean {
    this.#left -= values;
    if (this.#left < 0) throw tooBig();
    this.#beforeStop -= values;
    if (this.#beforeStop > 0) return false;
    this.#beforeStop = STOP;
    return true;
  }
}

/**
 * Returns how much it is to write: values, and characters as a part of one.
 * @throws ConfigError for a configuration that is small as text and large when it is written out
 */
export function* requireBounded(value: unknown, most: Bounds): Steps<number> {
  let values = 0;
  let characters = 0;
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === 'string') characters += next.length;
    if (++values > most.values || characters > most.characters) throw tooBig();
    if (values % STOP === 0) yield;
    if (Array.isArray(next)) for (const item of next) open.push(item);
    else if (isReference(next)) for (const part of pathOf(next)) open.push(part);
    else if (isHash(next)) {
      const keys = Object.keys(next);
      if (keys.length > MAX_ENTRIES) throw tooBig();
      for (const key of keys) open.push(next[key]);
    }
  }
  return values + characters / 50;
}

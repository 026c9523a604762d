/** Collects what is wrong with a configuration: each entry checks itself and goes on, so that all is told at once. */
import { type Hash, isHash } from '../yaml/values.ts';

export class Problems {
  readonly messages: string[] = [];

  /** @param path of the entry, as `jobs:test:image` */
  add(path: string, message: string): undefined {
    this.messages.push(`${path} ${message}`);
  }

  /** Tells unknown keys. @returns whether all are known */
  keys(path: string, hash: Hash, known: readonly string[]): boolean {
    const unknown = Object.keys(hash).filter((key) => !known.includes(key));
    if (unknown.length > 0) this.add(path, `config contains unknown keys: ${unknown.join(', ')}`);
    return unknown.length === 0;
  }
}

/** Checks one entry. @returns its value; undefined where it is wrong, which is told */
export type Entry<T> = (value: unknown, path: string, problems: Problems) => T | undefined;

/** An entry that is right as it is when a condition holds. */
const entryOf =
  <T>(is: (value: unknown) => value is T, message: string): Entry<T> =>
  (value, path, problems) =>
    is(value) ? value : problems.add(path, `config ${message}`);

export const isText = (value: unknown): value is string => typeof value === 'string';
export const isFlag = (value: unknown): value is boolean => typeof value === 'boolean';
export const isCount = (value: unknown): value is number => Number.isInteger(value);
export const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every(isText);

export const text = entryOf(isText, 'should be a string');
export const flag = entryOf(isFlag, 'should be a boolean value');
export const texts = entryOf(isTexts, 'should be an array of strings');
export const hash = entryOf(isHash, 'should be a hash');

export const oneOf = <const T extends string>(values: readonly T[]): Entry<T> =>
  entryOf((value): value is T => values.includes(value as T), `should be one of: ${values.join(', ')}`);

/** A hash whose keys are entries of their own. Keys with no value count as absent. */
export function fields<T extends Record<string, Entry<unknown>>>(
  entries: T,
): Entry<{ readonly [K in keyof T]?: NonNullable<ReturnType<T[K]>> }> {
  const known = Object.keys(entries);
  return (value, path, problems) => {
    if (!isHash(value)) return problems.add(path, 'config should be a hash');
    if (!problems.keys(path, value, known)) return undefined;
    const found: Record<string, unknown> = {};
    for (const [key, entry] of Object.entries(entries)) {
      const given = value[key];
      if (given === undefined || given === null) continue;
      const checked = entry(given, `${path}:${key}`, problems);
      if (checked !== undefined) found[key] = checked;
    }
    return found as { readonly [K in keyof T]?: NonNullable<ReturnType<T[K]>> };
  };
}

/** A value, or a list of such values, as a list. */
export const oneOrMany =
  <T>(entry: Entry<T>): Entry<readonly T[]> =>
  (value, path, problems) => {
    const list = Array.isArray(value) ? value : [value];
    return list.flatMap((item) => entry(item, path, problems) ?? []);
  };

/**
 * Nested parameters in flat names, as in Rack: `a[]=1` is a list, `a[k]=v` an object, `a[][k]=v` a list of objects, in
 * which a repeated key starts the next item. Objects have no prototype, so parameter names cannot reach one.
 */
import { malformed } from './errors.ts';

export type Parameters = Record<string, unknown>;

export const LIMITS = { depth: 32, count: 100_000 } as const;

/** An object without a prototype. */
export const bare = (): Parameters => Object.create(null) as Parameters;

/** Builds nested parameters from name and value pairs. */
export class ParameterTree {
  readonly root: Parameters = bare();
  #count = 0;

  /** @throws HttpFailure 400 for a name that conflicts with an earlier one, and beyond the limits of number and depth. */
  add(name: string, value: unknown): void {
    if (++this.#count > LIMITS.count) throw malformed('too many parameters');
    if (name.includes('\0')) throw malformed('parameter names may not contain NUL');
    const path = split(name);
    if (path === undefined) return;
    if (path.length > LIMITS.depth) throw malformed('parameters are nested too deeply');
    put(this.root, path, value, name);
  }
}

/** `a[b][][c]` as `['a', 'b', '', 'c']`; an empty part means "next item". Undefined for an empty name. */
function split(name: string): string[] | undefined {
  const open = name.indexOf('[', 1);
  const head = open < 0 ? name : name.slice(0, open);
  if (head === '') return undefined;
  const path = [head];
  let rest = open < 0 ? '' : name.slice(open);
  while (rest !== '') {
    const close = rest.startsWith('[') ? rest.indexOf(']') : -1;
    if (close < 0) {
      // Text that is not a bracketed part belongs to the last name: `a[b` and `a[b]c` are plain names.
      return path.length === 1 ? [name] : [...path.slice(0, -1), `${path.at(-1)}${rest}`];
    }
    path.push(rest.slice(1, close));
    rest = rest.slice(close + 1);
    if (path.length > LIMITS.depth) return path;
  }
  return path;
}

function put(root: Parameters, path: readonly string[], value: unknown, name: string): void {
  let hash = root;
  for (let index = 0; ; index++) {
    const key = path[index]!;
    const next = path[index + 1];
    if (next === undefined) {
      const old = hash[key];
      if (typeof old === 'object' && old !== null && isContainer(old)) throw conflicting(name);
      hash[key] = value;
      return;
    }
    if (next !== '') {
      hash = child(hash, key, name);
      continue;
    }
    const list = (hash[key] ??= []);
    if (!Array.isArray(list)) throw conflicting(name);
    const rest = path.slice(index + 2);
    if (rest.length === 0) {
      list.push(value);
      return;
    }
    if (rest[0] === '') throw malformed('lists of lists are not supported');
    const last = list.at(-1);
    if (isHash(last) && !hasKey(last, rest)) hash = last;
    else list.push((hash = bare()));
    index += 1;
  }
}

function child(hash: Parameters, key: string, name: string): Parameters {
  const value = (hash[key] ??= bare());
  if (!isHash(value)) throw conflicting(name);
  return value;
}

/** Whether the item already has the key that `rest` names, so that a new item starts. Nested lists can always grow. */
function hasKey(element: Parameters, rest: readonly string[]): boolean {
  let value: unknown = element;
  for (const part of rest) {
    if (!isHash(value) || !(part in value)) return false;
    value = value[part];
  }
  return true;
}

const isHash = (value: unknown): value is Parameters =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === null;

const isContainer = (value: object) => Array.isArray(value) || isHash(value);

const conflicting = (name: string) =>
  malformed(`parameter ${name.slice(0, 200)} conflicts with an earlier parameter of the same name`);

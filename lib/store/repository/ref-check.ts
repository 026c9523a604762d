/** Checks updates against the current refs. Pure. */
import { type Oid, ZERO_OID } from '../../git/oid.ts';
import type { RefRejection, RefUpdate } from '../../git/ports.ts';
import type { RefName } from '../../git/refname.ts';

export interface Rejection {
  readonly name: RefName | null;
  readonly reason: RefRejection;
}

export const creates = (update: RefUpdate): boolean => update.from === ZERO_OID && update.to !== ZERO_OID;
export const removes = (update: RefUpdate): boolean => update.from !== ZERO_OID && update.to === ZERO_OID;

/** @param oid current target; undefined: no such ref */
export function staleUpdate(update: RefUpdate, oid: Oid | undefined): Rejection | undefined {
  if ((oid ?? ZERO_OID) === update.from) return undefined;
  return { name: update.name, reason: update.from === ZERO_OID ? 'exists' : 'stale' };
}

/** Rejections of updates whose `from` is not the current target. */
export function staleUpdates(
  updates: readonly RefUpdate[],
  current: (name: RefName) => Oid | undefined,
): Rejection[] {
  return updates.flatMap((update) => staleUpdate(update, current(update.name)) ?? []);
}

/**
 * `refs/heads/a/b/c` → `refs/heads/a/b`, `refs/heads/a`: names that conflict with it. Refs have at least
 * three parts.
 */
export function namesAbove(name: string): RefName[] {
  const above: RefName[] = [];
  const least = name.indexOf('/', name.indexOf('/') + 1);
  for (let at = name.lastIndexOf('/'); at > least && least > 0; at = name.lastIndexOf('/', at - 1)) {
    above.push(name.slice(0, at) as RefName);
  }
  return above;
}

/**
 * Finds creations that conflict with another ref by their path, as `a` with `a/b`. Existing refs are passed one by one,
 * in any order; only the creations are held in memory.
 */
export class PrefixConflicts {
  readonly #names: readonly RefName[];
  /** With the slash sorted before all other characters, so that a name is followed by its descendants. */
  readonly #keys: readonly string[];
  readonly #found = new Set<number>();

  constructor(created: readonly RefName[]) {
    const sorted = created
      .map((name) => ({ name, key: keyOf(name) }))
      .toSorted((a, b) => (a.key < b.key ? -1 : 1));
    this.#names = sorted.map(({ name }) => name);
    this.#keys = sorted.map(({ key }) => key);
    this.#amongThem();
  }

  /** Checks a ref that exists and is not deleted by the same updates. */
  beside(name: string): void {
    if (this.#keys.length === 0) return;
    const key = keyOf(name);
    const below = `${key}${SLASH}`;
    for (let i = this.#from(below); this.#keys[i]?.startsWith(below); i++) this.#found.add(i);
    // Only the preceding creation can be its ancestor: an earlier one would conflict with that itself.
    const above = this.#from(key) - 1;
    if (above >= 0 && key.startsWith(`${this.#keys[above]}${SLASH}`)) this.#found.add(above);
  }

  rejections(): Rejection[] {
    return [...this.#found].map((i) => ({ name: this.#names[i]!, reason: 'prefix-conflict' }));
  }

  #amongThem(): void {
    const open: number[] = [];
    for (const [i, key] of this.#keys.entries()) {
      while (open.length > 0 && !key.startsWith(`${this.#keys[open.at(-1)!]}${SLASH}`)) open.pop();
      if (open.length > 0) {
        this.#found.add(i);
        this.#found.add(open.at(-1)!);
      }
      open.push(i);
    }
  }

  /** Index of the first key that is not smaller. */
  #from(key: string): number {
    let low = 0;
    let high = this.#keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#keys[middle]! < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Not allowed in ref names, and sorts first. */
const SLASH = '\u0000';

/** One character per byte of the name. */
function keyOf(name: string): string {
  const bytes = Buffer.from(name);
  for (let at = bytes.indexOf(0x2f); at >= 0; at = bytes.indexOf(0x2f, at + 1)) bytes[at] = 0;
  return bytes.toString('latin1');
}

/** @param existing at least all refs that may conflict with a creation */
export function prefixConflicts(updates: readonly RefUpdate[], existing: Iterable<RefName>): Rejection[] {
  const conflicts = new PrefixConflicts(updates.filter(creates).map(({ name }) => name));
  const removed = new Set(updates.filter(removes).map(({ name }) => name));
  for (const name of existing) if (!removed.has(name)) conflicts.beside(name);
  return inOrder(updates, conflicts.rejections());
}

/** Sorts rejections in the order of the updates. */
export function inOrder(updates: readonly RefUpdate[], rejections: readonly Rejection[]): Rejection[] {
  const place = new Map(updates.map(({ name }, i) => [name, i]));
  return rejections.toSorted((a, b) => place.get(a.name!)! - place.get(b.name!)!);
}

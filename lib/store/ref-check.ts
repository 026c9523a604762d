/** Whether updates may be made against what stands there now. Pure. */
import { type Oid, ZERO_OID } from '../git/oid.ts';
import type { RefRejection, RefUpdate } from '../git/ports.ts';
import type { RefName } from '../git/refname.ts';

export interface Rejection {
  readonly name: RefName | null;
  readonly reason: RefRejection;
}

export const creates = (update: RefUpdate): boolean => update.from === ZERO_OID && update.to !== ZERO_OID;
export const removes = (update: RefUpdate): boolean => update.from !== ZERO_OID && update.to === ZERO_OID;

/** Updates whose `from` is not what stands there. @param current undefined: no such ref */
export function staleUpdates(
  updates: readonly RefUpdate[],
  current: (name: RefName) => Oid | undefined,
): Rejection[] {
  return updates.flatMap((update) => {
    const oid = current(update.name) ?? ZERO_OID;
    if (oid === update.from) return [];
    return [{ name: update.name, reason: update.from === ZERO_OID ? 'exists' : 'stale' } as const];
  });
}

/** `refs/heads/a/b` → `refs/heads/a`, `refs/heads`, `refs`: names that cannot stand beside it. */
export function namesAbove(name: string): RefName[] {
  const above: RefName[] = [];
  for (let at = name.lastIndexOf('/'); at > 0; at = name.lastIndexOf('/', at - 1)) {
    above.push(name.slice(0, at) as RefName);
  }
  return above;
}

/**
 * Creations that git could not hold beside a ref that exists or is created with them: `a` against `a/b`.
 * What the same updates delete is out of the way.
 * @param existing every live ref that might be in the way of one of the creations, at least
 */
export function prefixConflicts(updates: readonly RefUpdate[], existing: Iterable<string>): Rejection[] {
  const names = new Set<string>(existing);
  for (const update of updates) if (removes(update)) names.delete(update.name);
  const created = updates.filter(creates).map((update) => update.name);
  for (const name of created) names.add(name);
  if (created.length === 0) return [];
  const occupied = new Set<string>();
  for (const name of names) for (const above of namesAbove(name)) occupied.add(above);
  return created
    .filter((name) => occupied.has(name) || namesAbove(name).some((above) => names.has(above)))
    .map((name) => ({ name, reason: 'prefix-conflict' }));
}

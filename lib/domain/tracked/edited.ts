import type { Edited, TrackedRecord } from '../../records/tracked.ts';
import type { Actor } from '../actor.ts';

/** A change of an issue or a merge request, with who made it. */
export function edited<R extends TrackedRecord, C extends Partial<Omit<R, keyof Edited>>>(
  actor: Actor,
  before: R,
  change: C,
): C & Edited {
  if (actor.kind !== 'user') return change;
  const updatedById = actor.user.id;
  const { title, description, updatedAt } = { ...before, ...change };
  const isSame = title === before.title && JSON.stringify(description) === JSON.stringify(before.description);
  return {
    ...change,
    updatedById,
    ...(isSame ? {} : { lastEdited: { at: updatedAt, byId: updatedById } }),
  };
}

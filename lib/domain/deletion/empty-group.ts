/** Apart from `mark-and-delete.ts`, whose importers would have the removers of all subjects, and what these are made of. */
import { removeGroupContent } from '../../store/deletion/group.ts';
import { authorIn, type Requester } from '../audit-events/event.ts';
import { auditedResourceEvent } from '../audit-events/setting-changes.ts';
import type { Deps } from '../deps.ts';
import { resourceNoun } from '../errors.ts';
import { deleterIn, toldOfDeletion } from './told.ts';

/**
 * Deletes the descendants of a deleted group, each with an audit event of its requester, and told to hooks.
 * @returns whether none are left
 */
export function emptyGroup(
  deps: Deps,
  { groupId, by }: { readonly groupId: number; readonly by?: Requester },
  deadline: number,
): Promise<boolean> {
  const author = authorIn({ by });
  return removeGroupContent(deps.store, groupId, deadline, async (kind, record) => ({
    alongside: [await auditedResourceEvent(deps, author, resourceNoun(kind), record, { remove: kind })],
    messages: await toldOfDeletion(deps, record, by),
    ...deleterIn(by),
  }));
}

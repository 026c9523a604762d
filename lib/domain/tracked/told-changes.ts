/** Which changes of issues and merge requests people are told of by mail. */

import { isDeepStrictEqual } from 'node:util';
import type { TrackedRecord } from '../../records/tracked.ts';
import type { ChangeOfTracked } from '../notifications/enqueue.ts';
import { formerMentions } from '../notifications/former-mentions.ts';

/**
 * Each is a mail of its own. States are told by each kind of record.
 * @param description its new text; undefined where that stays as it is
 */
export function toldOfFields(
  before: TrackedRecord,
  after: TrackedRecord,
  description: string | null | undefined,
): ChangeOfTracked[] {
  const labelIds = after.labelIds.filter((id) => !before.labelIds.includes(id));
  const mentions =
    description?.includes('@') === true && !isDeepStrictEqual(before.description, after.description);
  return [
    ...(sameIds(before.assigneeIds, after.assigneeIds)
      ? []
      : [{ what: 'reassigned', formerIds: before.assigneeIds } as const]),
    ...(before.milestoneId === after.milestoneId
      ? []
      : [{ what: 'replanned', milestoneId: after.milestoneId } as const]),
    ...(mentions ? [{ what: 'described', former: formerMentions(before.description) } as const] : []),
    ...(labelIds.length === 0 ? [] : [{ what: 'relabelled', labelIds } as const]),
  ];
}

export const sameIds = (some: readonly number[], others: readonly number[]): boolean =>
  some.length === others.length && some.every((id) => others.includes(id));

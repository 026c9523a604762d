/** Which changes of an issue people are told of by mail. */

import { isDeepStrictEqual } from 'node:util';
import type { IssueRecord } from '../../records/issues.ts';
import type { ChangeOfIssue } from '../notifications/enqueue.ts';
import { formerMentions } from '../notifications/former-mentions.ts';

/**
 * Each is a mail of its own.
 * @param before undefined: the issue is new
 * @param description its new text; undefined where that stays as it is
 */
export function toldChanges(
  before: IssueRecord | undefined,
  after: IssueRecord,
  description: string | null | undefined,
): ChangeOfIssue[] {
  if (before === undefined) return [{ what: 'opened' }];
  const labelIds = after.labelIds.filter((id) => !before.labelIds.includes(id));
  const mentions =
    description?.includes('@') === true && !isDeepStrictEqual(before.description, after.description);
  return [
    // An issue that moved is closed by that.
    ...(before.movedTo === null && after.movedTo !== null
      ? [{ what: 'moved' } as const]
      : stateTold(before, after)),
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

const stateTold = (before: IssueRecord, after: IssueRecord): ChangeOfIssue[] =>
  before.state === after.state ? [] : [{ what: after.state === 'closed' ? 'closed' : 'reopened' }];

const sameIds = (some: readonly number[], others: readonly number[]): boolean =>
  some.length === others.length && some.every((id) => others.includes(id));

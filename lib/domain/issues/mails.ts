/** Which changes of an issue people are told of by mail. */

import { isDeepStrictEqual } from 'node:util';
import type { IssueRecord } from '../../records/issues.ts';
import type { LongText } from '../../records/texts.ts';
import type { ChangeOfIssue } from '../notifications/enqueue.ts';
import { mentionsIn } from '../notifications/mentions.ts';

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
  const former = formerMentions(before, after, description);
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
    ...(former === undefined ? [] : [{ what: 'described', former } as const]),
    ...(labelIds.length === 0 ? [] : [{ what: 'relabelled', labelIds } as const]),
  ];
}

const stateTold = (before: IssueRecord, after: IssueRecord): ChangeOfIssue[] =>
  before.state === after.state ? [] : [{ what: after.state === 'closed' ? 'closed' : 'reopened' }];

const sameIds = (some: readonly number[], others: readonly number[]): boolean =>
  some.length === others.length && some.every((id) => others.includes(id));

/**
 * Whom a description mentioned before it changed; a worker reads a long one, which stays for some minutes.
 * @returns undefined where the change mentions nobody
 */
function formerMentions(
  { description: replaced }: IssueRecord,
  after: IssueRecord,
  description: string | null | undefined,
): readonly string[] | LongText | undefined {
  if (description?.includes('@') !== true || isDeepStrictEqual(replaced, after.description)) return undefined;
  return typeof replaced === 'string' ? mentionsIn(replaced) : (replaced ?? []);
}

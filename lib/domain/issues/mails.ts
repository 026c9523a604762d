/** Which changes of an issue people are told of by mail. */

import type { IssueRecord } from '../../records/issues.ts';
import type { ChangeOfIssue } from '../notifications/enqueue.ts';
import { toldOfFields } from '../tracked/told-changes.ts';

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
  return [
    // An issue that moved is closed by that.
    ...(before.movedTo === null && after.movedTo !== null
      ? [{ what: 'moved' } as const]
      : stateTold(before, after)),
    ...toldOfFields(before, after, description),
  ];
}

const stateTold = (before: IssueRecord, after: IssueRecord): ChangeOfIssue[] =>
  before.state === after.state ? [] : [{ what: after.state === 'closed' ? 'closed' : 'reopened' }];

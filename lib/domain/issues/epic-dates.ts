/** Epics take dates from the milestones of their issues: from the earliest start to the latest end. */

import type { InheritedDates } from '../../records/epics.ts';
import { ISSUE_CLASSES, type IssueRecord } from '../../records/issues.ts';
import { epicDatesMessage } from '../../store/epics/dates.ts';
import { Missing, Stale } from '../../store/errors.ts';
import { issueRanges } from '../../store/issues/kind.ts';
import type { OutboxMessage } from '../../store/outbox/outbox.ts';
import type { Deps } from '../deps.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';

/** Issues of an epic that are looked at, the newest, and how many of them together. */
const LOOKED_AT = 10_000;
const PAGE = 1000;

type Planned = Pick<IssueRecord, 'epicId' | 'milestoneId'>;

/** The messages for the transaction of a change of an issue. @param before, after undefined: there is none */
export function datesFollow(before: Planned | undefined, after: Planned | undefined): OutboxMessage[] {
  if (before?.epicId === after?.epicId && before?.milestoneId === after?.milestoneId) return [];
  const epics = [before, after].flatMap((issue) =>
    issue?.epicId == null || issue.milestoneId === null ? [] : [issue.epicId],
  );
  return [...new Set(epics)].map(epicDatesMessage);
}

/** The time of the last change of the epic stays. Idempotent. */
export async function inheritDates({ store }: Deps, epicId: number): Promise<void> {
  const attempt = async () => {
    const epic = await store.epics.get(epicId);
    if (epic === undefined) return;
    const { start, due } = await datesOf(store, epicId);
    const { inheritedDates: present } = epic;
    if ((present?.start ?? null) === start && (present?.due ?? null) === due) return;
    await store.epics.change(epic, { inheritedDates: { start, due } }, [], new Date(epic.updatedAt));
  };
  await retryOnConflict(attempt, (error) => error instanceof Stale).catch((error: unknown) => {
    // The group is deleted.
    if (!(error instanceof Missing)) throw error;
  });
}

async function datesOf(store: Deps['store'], epicId: number): Promise<InheritedDates> {
  const milestoneIds = new Set<number>();
  const sources = [issueRanges.ofValue('epic', epicId, ISSUE_CLASSES)];
  for (let page = 1, more = true; more && page <= LOOKED_AT / PAGE; page++) {
    const found = await store.issueList.page({ sources, direction: 'desc', page, perPage: PAGE });
    for (const issue of found.items)
      if (issue.epicId === epicId && issue.milestoneId !== null) milestoneIds.add(issue.milestoneId);
    more = found.more;
  }
  const milestones = milestoneIds.size === 0 ? [] : await store.milestones.getMany([...milestoneIds]);
  const days = (field: 'startDate' | 'dueDate') =>
    milestones.flatMap((milestone) => milestone?.[field] ?? []).sort();
  return { start: days('startDate')[0] ?? null, due: days('dueDate').at(-1) ?? null };
}

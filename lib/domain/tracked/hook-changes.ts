/** What hooks are told of a change of an issue or a merge request. */
import { beginningOfText, type StoredText } from '../../records/texts.ts';
import type { TrackedRecord } from '../../records/tracked.ts';
import type { HookChanges } from '../hook-events/events.ts';

interface Tracked extends TrackedRecord {
  readonly timeEstimate: number;
  readonly timeSpent: number;
  readonly discussionLocked: boolean | null;
}

/** Characters of a description. The payload has all of the present one beside. */
const MAX_TEXT = 4_000;

/** Previous and current values of what changed, by the names of the payloads; none of a new one. */
export function hookChanges<R extends Tracked>(
  before: R | undefined,
  after: R,
  more: Readonly<Record<string, (record: R) => unknown>> = {},
): HookChanges {
  const fields: Readonly<Record<string, (record: R) => unknown>> = {
    title: ({ title }) => title,
    description: ({ description }) => description,
    label_ids: ({ labelIds }) => labelIds,
    assignee_ids: ({ assigneeIds }) => assigneeIds,
    milestone_id: ({ milestoneId }) => milestoneId,
    discussion_locked: ({ discussionLocked }) => discussionLocked,
    time_estimate: ({ timeEstimate }) => timeEstimate,
    total_time_spent: ({ timeSpent }) => timeSpent,
    ...more,
  };
  if (before === undefined) return {};
  const changed = differences(before, after, fields);
  if (Object.keys(changed).length === 0) return {};
  const { description } = changed as { description?: readonly [StoredText | null, StoredText | null] };
  return {
    ...changed,
    ...(description === undefined
      ? {}
      : { description: [beginningOf(description[0]), beginningOf(description[1])] }),
    updated_at: [before.updatedAt, after.updatedAt],
    ...differences(before, after, {
      updated_by_id: ({ updatedById }) => updatedById ?? null,
      last_edited_at: ({ lastEdited }) => lastEdited?.at ?? null,
      last_edited_by_id: ({ lastEdited }) => lastEdited?.byId ?? null,
    }),
  };
}

function differences<R>(
  before: R,
  after: R,
  fields: Readonly<Record<string, (record: R) => unknown>>,
): HookChanges {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, of]) => {
      const values = [of(before), of(after)] as const;
      return JSON.stringify(values[0]) === JSON.stringify(values[1]) ? [] : [[name, values] as const];
    }),
  );
}

const beginningOf = (text: StoredText | null): string | null =>
  text === null ? null : beginningOfText(text).slice(0, MAX_TEXT);

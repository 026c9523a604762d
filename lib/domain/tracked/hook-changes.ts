/** What hooks are told of a change of an issue or a merge request. */
import type { StoredText } from '../../records/texts.ts';
import type { TrackedRecord } from '../../records/tracked.ts';
import type { HookChanges } from '../hook-events/events.ts';

interface Tracked extends TrackedRecord {
  readonly timeEstimate: number;
  readonly timeSpent: number;
  readonly discussionLocked: boolean | null;
}

/** Characters of a description: those of longer ones are not told, but that it changed is in the payload all the same. */
const MAX_TEXT = 4_000;

/** Previous and current values of what changed, by the names of the payloads; none of a new one. */
export function hookChanges<R extends Tracked>(
  before: R | undefined,
  after: R,
  more: Readonly<Record<string, (record: R) => unknown>> = {},
): HookChanges {
  const fields: Readonly<Record<string, (record: R) => unknown>> = {
    title: ({ title }) => title,
    description: ({ description }) => shortText(description),
    label_ids: ({ labelIds }) => labelIds,
    assignee_ids: ({ assigneeIds }) => assigneeIds,
    milestone_id: ({ milestoneId }) => milestoneId,
    discussion_locked: ({ discussionLocked }) => discussionLocked,
    time_estimate: ({ timeEstimate }) => timeEstimate,
    total_time_spent: ({ timeSpent }) => timeSpent,
    ...more,
  };
  if (before === undefined) return {};
  const changed = Object.entries(fields).flatMap(([name, of]) => {
    const values = [of(before), of(after)] as const;
    return JSON.stringify(values[0]) === JSON.stringify(values[1]) ? [] : [[name, values] as const];
  });
  if (changed.length === 0) return {};
  return { ...Object.fromEntries(changed), updated_at: [before.updatedAt, after.updatedAt] };
}

const shortText = (text: StoredText | null): unknown =>
  text === null
    ? null
    : typeof text === 'string'
      ? text.slice(0, MAX_TEXT)
      : { beginning: text.beginning?.slice(0, MAX_TEXT), bytes: text.bytes };

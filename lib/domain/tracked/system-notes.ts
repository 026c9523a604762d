/** What the service notes on issues and merge requests about changes of them. */

import { isDeepStrictEqual } from 'node:util';
import type { MilestoneRecord } from '../../records/milestones.ts';
import {
  eventsOfChange,
  type Noteable,
  type NoteRecord,
  type SystemNote,
  systemNote,
} from '../../records/notes.ts';
import type { StoredText } from '../../records/texts.ts';
import type { TrackedRecord } from '../../records/tracked.ts';
import { noteWrites } from '../../store/notes/notes.ts';
import type { Write } from '../../store/table/write.ts';
import { signedIn } from '../access/permissions.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { humanDuration } from './durations.ts';
import { type Task, turnedTasks } from './tasks.ts';

/** Ids that follow each other. */
export interface NoteIds {
  readonly first: number;
  readonly count: number;
}

/** The part of every tracked record that system notes tell of. */
export type NotedOfAll = Pick<
  TrackedRecord,
  'title' | 'description' | 'assigneeIds' | 'labelIds' | 'milestoneId'
> & {
  readonly state: 'opened' | 'closed' | 'merged';
  readonly discussionLocked: boolean | null;
  readonly timeEstimate: number;
  readonly timeSpent: number;
};

/** The writes of notes, three for each and one for all. @param ids for them, where they are enough */
export async function systemNoteWrites(
  deps: Deps,
  actor: Actor,
  on: { readonly projectId: number; readonly noteable: Noteable; readonly iid: number },
  notes: readonly SystemNote[],
  ids?: NoteIds,
): Promise<Write[]> {
  const { user } = signedIn(actor);
  if (notes.length === 0) return [];
  const counts = notes.map(({ change }) => (change === undefined ? 1 : eventsOfChange(change)));
  const needed = counts.reduce((sum, count) => sum + count);
  const isPrepared = ids !== undefined && ids.count >= needed;
  let id = isPrepared ? ids.first : (await deps.store.notes.reserveIds(needed)) - needed + 1;
  const at = deps.now().toISOString();
  const records: NoteRecord[] = [];
  for (const [i, note] of notes.entries()) {
    records.push(systemNote(id, on, note, user, at));
    id += counts[i]!;
  }
  return noteWrites(...records);
}

/** A further note about the same, such as that an issue was closed by a commit, takes the place of the plain one. */
export const inPlaceOf = (plain: readonly SystemNote[], further: readonly SystemNote[]): SystemNote[] => {
  const same = (of: SystemNote) => (other: SystemNote) => other.action === of.action;
  return [
    ...plain.filter((note) => !further.some(same(note))),
    ...further.map((note) => ({ ...plain.find(same(note)), ...note })),
  ];
};

/** The users whose assignment, or another relation, a change began or ended. */
export const movedIds = (before: readonly number[], after: readonly number[]): number[] =>
  [...before, ...after].filter((id) => before.includes(id) !== after.includes(id));

export function labelNotes(
  { labelIds: before }: Pick<NotedOfAll, 'labelIds'>,
  { labelIds: after }: Pick<NotedOfAll, 'labelIds'>,
): SystemNote[] {
  const added = after.filter((id) => !before.includes(id));
  const removed = before.filter((id) => !after.includes(id));
  if (added.length + removed.length === 0) return [];
  const labels = (verb: string, ids: readonly number[]) =>
    ids.length === 0
      ? []
      : [`${verb} ${ids.map((id) => `~${id}`).join(' ')} ${ids.length === 1 ? 'label' : 'labels'}`];
  const text = [...labels('added', added), ...labels('removed', removed)].join(' and ');
  return [{ action: 'label', text, change: { kind: 'label', added, removed } }];
}

/** @param milestone that it got or lost; undefined if it is deleted */
export function milestoneNotes(
  before: Pick<NotedOfAll, 'milestoneId'>,
  after: Pick<NotedOfAll, 'milestoneId' | 'state'>,
  milestone: Pick<MilestoneRecord, 'iid' | 'title' | 'container'> | undefined,
): SystemNote[] {
  const milestoneId = after.milestoneId ?? before.milestoneId;
  if (before.milestoneId === after.milestoneId || milestoneId === null) return [];
  const action = after.milestoneId === null ? 'remove' : 'add';
  const name =
    milestone === undefined
      ? ''
      : milestone.container.kind === 'project'
        ? `%${milestone.iid}`
        : `%"${milestone.title}"`;
  const text = `${action === 'add' ? 'changed milestone to' : 'removed milestone'} ${name}`.trim();
  return [
    { action: 'milestone', text, change: { kind: 'milestone', milestoneId, action, state: after.state } },
  ];
}

export type Tell<Noted> = (
  before: Noted,
  after: Noted,
  usernames: ReadonlyMap<number, string>,
) => string | undefined;

/** Tells of a field that changed. */
export const ofField =
  <Noted>() =>
  <K extends keyof Noted>(field: K, text: (value: Noted[K], before: Noted[K]) => string): Tell<Noted> =>
  (before, after) =>
    isDeepStrictEqual(before[field], after[field]) ? undefined : text(after[field], before[field]);

/** `assigned to @a and unassigned @b`; undefined where nothing changed. @param verbs of beginning and end */
export function peopleText(
  [before, after]: readonly [readonly number[], readonly number[]],
  usernames: ReadonlyMap<number, string>,
  [begin, end]: readonly [string, string],
): string | undefined {
  const named = (ids: readonly number[]) => sentence(ids.flatMap((id) => nameOf(usernames.get(id))));
  const added = named(after.filter((id) => !before.includes(id)));
  const removed = named(before.filter((id) => !after.includes(id)));
  const parts = [
    ...(added === '' ? [] : [`${begin} ${added}`]),
    ...(removed === '' ? [] : [`${end} ${removed}`]),
  ];
  return parts.length === 0 ? undefined : parts.join(' and ');
}

const field = ofField<NotedOfAll>();

/** By kind of change. */
export const TEXTS_OF_ALL = {
  title: field('title', (title, before) => {
    const [previous, next] = marked(before, title);
    return `changed title from **${previous}** to **${next}**`;
  }),
  description: field('description', (after, before) => tasksText(before, after) ?? 'changed the description'),
  assignee: ({ assigneeIds: before }, { assigneeIds: after }, usernames) =>
    peopleText([before, after], usernames, ['assigned to', 'unassigned']),
  time_estimate: field('timeEstimate', (seconds) =>
    seconds === 0 ? 'removed time estimate' : `changed time estimate to ${humanDuration(seconds)}`,
  ),
  time_spent: field('timeSpent', (seconds, before) => {
    if (seconds === 0) return 'removed time spent';
    const span = humanDuration(Math.abs(seconds - before));
    return `${seconds > before ? 'added' : 'subtracted'} ${span} of time spent`;
  }),
} as const satisfies Readonly<Record<string, Tell<NotedOfAll>>>;

/** @param what `issue`, `merge request` */
export const lockedText =
  (what: string): Tell<Pick<NotedOfAll, 'discussionLocked'>> =>
  ({ discussionLocked: before }, { discussionLocked: after }) => {
    if ((before === true) === (after === true)) return undefined;
    return after === true ? `locked this ${what}` : `unlocked this ${what}`;
  };

/** The notes that texts by kind of change make. */
export const toldIn = <Noted>(
  texts: Readonly<Record<string, Tell<Noted>>>,
  before: Noted,
  after: Noted,
  usernames: ReadonlyMap<number, string>,
): SystemNote[] =>
  Object.entries(texts).flatMap(([action, tell]) => {
    const text = tell(before, after, usernames);
    return text === undefined ? [] : [{ action, text }];
  });

/** Tasks that one note tells of. */
const MAX_TASKS = 20;

/** A line for each task that was completed or opened again; undefined where that is not what changed, or too much. */
function tasksText(before: StoredText | null, after: StoredText | null): string | undefined {
  if (typeof before !== 'string' || typeof after !== 'string') return undefined;
  const tasks = turnedTasks(before, after);
  if (tasks.length === 0 || tasks.length > MAX_TASKS) return undefined;
  const line = ({ text, completed }: Task) =>
    `marked the task **${text}** as ${completed ? 'completed' : 'incomplete'}`;
  return tasks.map(line).join('\n\n');
}

const nameOf = (username: string | undefined): string[] => (username === undefined ? [] : [`@${username}`]);

/** `a`; `a and b`; `a, b, and c`. */
export function sentence(words: readonly string[]): string {
  if (words.length < 3) return words.join(' and ');
  return `${words.slice(0, -1).join(', ')}, and ${words.at(-1)}`;
}

/** Both texts with what differs between their common beginning and end marked: `{-gone-}`, `{+come+}`. */
function marked(before: string, after: string): [string, string] {
  const [old, now] = [[...before], [...after]];
  const shorter = Math.min(old.length, now.length);
  let start = 0;
  while (start < shorter && old[start] === now[start]) start++;
  let end = 0;
  while (end < shorter - start && old.at(-1 - end) === now.at(-1 - end)) end++;
  const show = (text: readonly string[], open: string, close: string) => {
    const middle = text.slice(start, text.length - end).join('');
    const mark = middle === '' ? '' : `${open}${middle}${close}`;
    return text.slice(0, start).join('') + mark + text.slice(text.length - end).join('');
  };
  return [show(old, '{-', '-}'), show(now, '{+', '+}')];
}

/** What the service notes on an issue about a change of it. */

import { isDeepStrictEqual } from 'node:util';
import type { IssueFields, IssueRecord, Severity } from '../../records/issues.ts';
import type { MilestoneRecord } from '../../records/milestones.ts';
import { eventsOfChange, type NamedPlace, type NotedChange, type NoteRecord } from '../../records/notes.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { noteWrites } from '../../store/notes/notes.ts';
import type { Write } from '../../store/table/write.ts';
import { signedIn } from '../access/permissions.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { humanDuration } from './durations.ts';
import type { IssueMetadata } from './input.ts';

/** The part of an issue that system notes tell of. */
export type Noted = Pick<
  IssueFields,
  | 'title'
  | 'description'
  | 'assigneeIds'
  | 'dueDate'
  | 'confidential'
  | 'discussionLocked'
  | 'type'
  | 'severity'
  | 'healthStatus'
  | 'timeEstimate'
  | 'timeSpent'
  | 'state'
  | 'labelIds'
  | 'milestoneId'
  | 'iterationId'
  | 'epicId'
  | 'weight'
>;

export interface SystemNote {
  /** The kind of change. */
  readonly action: string;
  readonly text: string;
  /** What is told as events too. */
  readonly change?: NotedChange;
  /** The place that the text names: only those who may read that see the note. */
  readonly mentionedIn?: NamedPlace;
}

/** Ids that follow each other. */
export interface NoteIds {
  readonly first: number;
  readonly count: number;
}

/** What saves reads and allocations. */
interface Prepared {
  /** The milestone that the issue gets. */
  readonly milestone?: MilestoneRecord | undefined;
  /** Ids for the notes, where they are enough. */
  readonly ids?: NoteIds | undefined;
}

/**
 * The notes of a change, for its transaction: at most seventeen beside `further`, of three writes each and one for all.
 * @param further notes that do not follow from the fields
 */
export async function systemNotes(
  deps: Deps,
  actor: Actor,
  project: ProjectRecord,
  before: IssueRecord | undefined,
  after: IssueRecord,
  further: readonly SystemNote[] = [],
  { milestone, ids }: Prepared = {},
): Promise<Write[]> {
  const { user } = signedIn(actor);
  // What a new issue has beside its texts is told as a change of one without.
  const from = before ?? {
    ...after,
    labelIds: [],
    milestoneId: null,
    iterationId: null,
    epicId: null,
    weight: null,
  };
  const related = await relatedTo(deps, project, from, after, milestone);
  const notes = inPlaceOf(systemNotesOf(from, after, related), further);
  if (notes.length === 0) return [];
  const counts = notes.map(({ change }) => (change === undefined ? 1 : eventsOfChange(change)));
  const needed = counts.reduce((sum, count) => sum + count);
  const isPrepared = ids !== undefined && ids.count >= needed;
  let id = isPrepared ? ids.first : (await deps.store.notes.reserveIds(needed)) - needed + 1;
  const at = deps.now().toISOString();
  const records: NoteRecord[] = [];
  for (const [i, { action, text, change, mentionedIn }] of notes.entries()) {
    records.push({
      id,
      projectId: after.projectId,
      noteable: { kind: 'issue', id: after.id },
      iid: after.iid,
      body: text,
      author: { id: user.id, username: user.username, name: user.name },
      line: null,
      system: action,
      ...(change === undefined ? {} : { change }),
      ...(mentionedIn === undefined ? {} : { mentionedIn }),
      createdAt: at,
      updatedAt: at,
    });
    id += counts[i]!;
  }
  return noteWrites(...records);
}

/** A further note about the same, such as that an issue was closed by a commit, takes the place of the plain one. */
const inPlaceOf = (plain: readonly SystemNote[], further: readonly SystemNote[]): SystemNote[] => {
  const same = (of: SystemNote) => (other: SystemNote) => other.action === of.action;
  return [
    ...plain.filter((note) => !further.some(same(note))),
    ...further.map((note) => ({ ...plain.find(same(note)), ...note })),
  ];
};

/** What notes name beside the issue. */
export interface NamedInNotes {
  /** Of users who were assigned or no longer are. */
  readonly usernames: ReadonlyMap<number, string>;
  /** The milestone that the issue got or lost; undefined if it is deleted. */
  readonly milestone?: Pick<MilestoneRecord, 'iid' | 'title' | 'container'> | undefined;
  /** The epic that the issue got or lost, as it is called in the project: `&1`, `group&1`; undefined if it is deleted. */
  readonly epic?: string | undefined;
}

async function relatedTo(
  { store }: Deps,
  { namespaceId }: ProjectRecord,
  before: Noted,
  after: Noted,
  known: MilestoneRecord | undefined,
): Promise<NamedInNotes> {
  const moved = [...before.assigneeIds, ...after.assigneeIds].filter(
    (id) => before.assigneeIds.includes(id) !== after.assigneeIds.includes(id),
  );
  const milestoneId = after.milestoneId ?? before.milestoneId;
  const [users, milestone, epic] = await Promise.all([
    moved.length === 0 ? [] : store.users.getMany(moved),
    milestoneId === null || before.milestoneId === after.milestoneId
      ? undefined
      : known?.id === milestoneId
        ? known
        : store.milestones.get(milestoneId),
    before.epicId === after.epicId ? undefined : epicName(store, namespaceId, changedEpic(before, after)!),
  ]);
  const usernames = new Map(users.flatMap((each) => (each === undefined ? [] : [[each.id, each.username]])));
  return { usernames, milestone, epic };
}

async function epicName(
  { epics, groups }: Deps['store'],
  namespaceId: number,
  id: number,
): Promise<string | undefined> {
  const epic = await epics.get(id);
  if (epic === undefined) return undefined;
  const { container, iid } = epic;
  const path = container.id === namespaceId ? '' : (await groups.get(container.id))?.fullPath;
  return path === undefined ? undefined : `${path}&${iid}`;
}

/** The epic that a change puts an issue in, or takes it out of. */
const changedEpic = (before: Noted, after: Noted): number | null => after.epicId ?? before.epicId;

/** Ids that the notes of a new issue take, unless quick actions change more of it. */
export const noteIdsOf = (
  labelCount: number,
  { milestoneId, iterationId, epicId, epicIid, weight }: IssueMetadata,
): number =>
  labelCount + [milestoneId, iterationId, epicId ?? epicIid, weight].filter((each) => each != null).length;

/** The notes of a change. */
export const systemNotesOf = (before: Noted, after: Noted, named: NamedInNotes): SystemNote[] => [
  ...Object.entries(TEXTS).flatMap(([action, tell]) => {
    const text = tell(before, after, named.usernames);
    return text === undefined ? [] : [{ action, text }];
  }),
  ...changesOf(before, after, named),
];

/** What is told as events too. */
function changesOf(before: Noted, after: Noted, { milestone, epic }: NamedInNotes): SystemNote[] {
  const notes: SystemNote[] = [];
  const added = after.labelIds.filter((id) => !before.labelIds.includes(id));
  const removed = before.labelIds.filter((id) => !after.labelIds.includes(id));
  if (added.length + removed.length > 0) {
    const labels = (verb: string, ids: readonly number[]) =>
      ids.length === 0
        ? []
        : [`${verb} ${ids.map((id) => `~${id}`).join(' ')} ${ids.length === 1 ? 'label' : 'labels'}`];
    const text = [...labels('added', added), ...labels('removed', removed)].join(' and ');
    notes.push({ action: 'label', text, change: { kind: 'label', added, removed } });
  }
  const milestoneId = after.milestoneId ?? before.milestoneId;
  if (before.milestoneId !== after.milestoneId && milestoneId !== null) {
    const action = after.milestoneId === null ? 'remove' : 'add';
    const name =
      milestone === undefined
        ? ''
        : milestone.container.kind === 'project'
          ? `%${milestone.iid}`
          : `%"${milestone.title}"`;
    const text = `${action === 'add' ? 'changed milestone to' : 'removed milestone'} ${name}`.trim();
    notes.push({
      action: 'milestone',
      text,
      change: { kind: 'milestone', milestoneId, action, state: after.state },
    });
  }
  const iterationId = after.iterationId ?? before.iterationId;
  if (before.iterationId !== after.iterationId && iterationId !== null) {
    const action = after.iterationId === null ? 'remove' : 'add';
    const verb = action === 'add' ? 'changed iteration to' : 'removed iteration';
    notes.push({
      action: 'iteration',
      text: `${verb} *iteration:${iterationId}`,
      change: { kind: 'iteration', iterationId, action },
    });
  }
  const epicId = changedEpic(before, after);
  // Nobody reads about an epic that is deleted.
  if (before.epicId !== after.epicId && epicId !== null && epic !== undefined) {
    const verb =
      after.epicId === null ? 'removed from' : before.epicId === null ? 'added to' : 'changed epic to';
    const text = before.epicId === null || after.epicId === null ? `${verb} epic ${epic}` : `${verb} ${epic}`;
    notes.push({ action: 'epic', text, mentionedIn: { kind: 'epic', id: epicId } });
  }
  const { weight, state } = after;
  if (before.weight !== weight) {
    const text = weight === null ? 'removed the weight' : `changed weight to **${weight}**`;
    notes.push({ action: 'weight', text, change: { kind: 'weight', weight } });
  }
  if (before.state !== state) {
    const told = state === 'closed' ? 'closed' : 'reopened';
    notes.push({ action: told, text: told, change: { kind: 'state', state: told } });
  }
  return notes;
}

type Tell = (before: Noted, after: Noted, usernames: ReadonlyMap<number, string>) => string | undefined;

/** Tells of a field that changed. */
const ofField =
  <K extends keyof Noted>(field: K, text: (value: Noted[K], before: Noted[K]) => string): Tell =>
  (before, after) =>
    isDeepStrictEqual(before[field], after[field]) ? undefined : text(after[field], before[field]);

const TEXTS: Readonly<Record<string, Tell>> = {
  title: ofField('title', (title, before) => {
    const [previous, next] = marked(before, title);
    return `changed title from **${previous}** to **${next}**`;
  }),
  description: ofField('description', () => 'changed the description'),
  assignee: ({ assigneeIds: before }, { assigneeIds: after }, usernames) => {
    const named = (ids: readonly number[]) => sentence(ids.flatMap((id) => nameOf(usernames.get(id))));
    const assigned = named(after.filter((id) => !before.includes(id)));
    const unassigned = named(before.filter((id) => !after.includes(id)));
    const parts = [
      ...(assigned === '' ? [] : [`assigned to ${assigned}`]),
      ...(unassigned === '' ? [] : [`unassigned ${unassigned}`]),
    ];
    return parts.length === 0 ? undefined : parts.join(' and ');
  },
  due_date: ofField('dueDate', (day) =>
    day === null ? 'removed due date' : `changed due date to ${DAY.format(new Date(`${day}T00:00:00Z`))}`,
  ),
  confidential: ofField('confidential', (confidential) =>
    confidential ? 'made the issue confidential' : 'made the issue visible to everyone',
  ),
  locked: ({ discussionLocked: before }, { discussionLocked: after }) => {
    if ((before === true) === (after === true)) return undefined;
    return after === true ? 'locked this issue' : 'unlocked this issue';
  },
  issue_type: ofField('type', (type) => `changed issue type to ${type.replace('_', ' ')}`),
  severity: ofField('severity', (severity) => `changed the severity to **${SEVERITIES[severity]}**`),
  health_status: ofField('healthStatus', (status) =>
    status === null
      ? 'removed the health status'
      : `changed health status to **${status.replaceAll('_', ' ')}**`,
  ),
  time_estimate: ofField('timeEstimate', (seconds) =>
    seconds === 0 ? 'removed time estimate' : `changed time estimate to ${humanDuration(seconds)}`,
  ),
  time_spent: ofField('timeSpent', (seconds, before) => {
    if (seconds === 0) return 'removed time spent';
    const span = humanDuration(Math.abs(seconds - before));
    return `${seconds > before ? 'added' : 'subtracted'} ${span} of time spent`;
  }),
};

const SEVERITIES: Readonly<Record<Severity, string>> = {
  UNKNOWN: 'Unknown',
  LOW: 'Low - S4',
  MEDIUM: 'Medium - S3',
  HIGH: 'High - S2',
  CRITICAL: 'Critical - S1',
};

const DAY = new Intl.DateTimeFormat('en-US', { dateStyle: 'long', timeZone: 'UTC' });

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

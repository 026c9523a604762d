/** What the service notes on an issue about a change of it. */

import type { IssueFields, IssueRecord, Severity } from '../../records/issues.ts';
import type { MilestoneRecord } from '../../records/milestones.ts';
import type { SystemNote } from '../../records/notes.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { Write } from '../../store/table/write.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import {
  inPlaceOf,
  labelNotes,
  lockedText,
  milestoneNotes,
  movedIds,
  type NoteIds,
  ofField,
  systemNoteWrites,
  TEXTS_OF_ALL,
  type Tell,
  toldIn,
} from '../tracked/system-notes.ts';
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
  | 'zoomUrl'
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

/** What saves reads and allocations. */
interface Prepared {
  /** The milestone that the issue gets. */
  readonly milestone?: MilestoneRecord | undefined;
  /** Ids for the notes, where they are enough. */
  readonly ids?: NoteIds | undefined;
}

/**
 * The notes of a change, for its transaction: at most eighteen beside `further`, of three writes each and one for all.
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
  // What a new issue has beside its texts is told as a change of one without.
  const from = before ?? {
    ...after,
    labelIds: [],
    milestoneId: null,
    iterationId: null,
    epicId: null,
    weight: null,
    zoomUrl: null,
  };
  const related = await relatedTo(deps, project, from, after, milestone);
  const notes = inPlaceOf(systemNotesOf(from, after, related), further);
  const on = {
    projectId: after.projectId,
    noteable: { kind: 'issue', id: after.id },
    iid: after.iid,
  } as const;
  return systemNoteWrites(deps, actor, on, notes, ids);
}

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
  const moved = movedIds(before.assigneeIds, after.assigneeIds);
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
  ...toldIn(TEXTS, before, after, named.usernames),
  ...changesOf(before, after, named),
];

/** What is told as events too. */
function changesOf(before: Noted, after: Noted, { milestone, epic }: NamedInNotes): SystemNote[] {
  const notes = [...labelNotes(before, after), ...milestoneNotes(before, after, milestone)];
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

const { time_estimate, time_spent, ...texts } = TEXTS_OF_ALL;
const field = ofField<Noted>();

const TEXTS: Readonly<Record<string, Tell<Noted>>> = {
  ...texts,
  due_date: field('dueDate', (day) =>
    day === null ? 'removed due date' : `changed due date to ${DAY.format(new Date(`${day}T00:00:00Z`))}`,
  ),
  confidential: field('confidential', (confidential) =>
    confidential ? 'made the issue confidential' : 'made the issue visible to everyone',
  ),
  locked: lockedText('issue'),
  issue_type: field('type', (type) => `changed issue type to ${type.replace('_', ' ')}`),
  severity: field('severity', (severity) => `changed the severity to **${SEVERITIES[severity]}**`),
  health_status: field('healthStatus', (status) =>
    status === null
      ? 'removed the health status'
      : `changed health status to **${status.replaceAll('_', ' ')}**`,
  ),
  pinned_embed: ({ zoomUrl: before = null }, { zoomUrl: after = null }) =>
    (before === null) === (after === null)
      ? undefined
      : after === null
        ? 'removed a Zoom call from this issue'
        : 'added a Zoom call to this issue',
  time_estimate,
  time_spent,
};

const SEVERITIES: Readonly<Record<Severity, string>> = {
  UNKNOWN: 'Unknown',
  LOW: 'Low - S4',
  MEDIUM: 'Medium - S3',
  HIGH: 'High - S2',
  CRITICAL: 'Critical - S1',
};

const DAY = new Intl.DateTimeFormat('en-US', { dateStyle: 'long', timeZone: 'UTC' });

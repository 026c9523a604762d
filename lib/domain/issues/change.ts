/**
 * The one way in which issues are created and changed: the change and what follows from it are one transaction. It has
 * 100 items (DynamoDB, `TransactWriteItems`), of which what follows writes no more than 80, promises included; where it
 * needs the room, `store/issues` leaves rows of lists to a job. The service's notes are 65 when everything changes.
 */

import type { IssueAddress, IssueFields, IssueRecord } from '../../records/issues.ts';
import type { SystemNote } from '../../records/notes.ts';
import { ending } from '../../store/alerts/alerts.ts';
import { AlreadyExists, Missing, Stale, TransactionRefused } from '../../store/errors.ts';
import { mentionsMessage } from '../../store/notes/mentions.ts';
import type { OutboxMessage } from '../../store/outbox/outbox.ts';
import type { Write } from '../../store/table/write.ts';
import { alertTodos, issueTodos } from '../../store/todos/todos.ts';
import { signedIn } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import { maySeeIssue } from '../access/visible-issues.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { conflict, notFound, recordNotFound } from '../errors.ts';
import { activity } from '../events/record.ts';
import { issueMoment } from '../hook-events/moments.ts';
import { tellHooks } from '../hook-events/tell.ts';
import { mayNameAny } from '../markdown/references.ts';
import type { NoteCounts } from '../notes/noteable.ts';
import { enqueueNotification, moverOf } from '../notifications/enqueue.ts';
import { formerMentions } from '../notifications/former-mentions.ts';
import { retryWhileStale } from '../retry-while-stale.ts';
import { alertThread, recoveryText } from '../tracked/alert-notes.ts';
import { edited } from '../tracked/edited.ts';
import { hookChanges } from '../tracked/hook-changes.ts';
import { type Known, surroundingsOf } from '../tracked/related.ts';
import { type NoteIds, systemNoteWrites } from '../tracked/system-notes.ts';
import { datesFollow } from './epic-dates.ts';
import { toldInEpics } from './epic-notes.ts';
import { toldChanges } from './mails.ts';
import { systemNotes } from './system-notes.ts';

export interface IssueChange {
  readonly actor: Actor;
  readonly access: ProjectAccess;
  /** Undefined: the issue is new. */
  readonly before: IssueRecord | undefined;
  readonly after: IssueRecord;
  /** The new text of its description; undefined where that stays as it is. */
  readonly description: string | null | undefined;
  /** System notes that do not follow from the fields. */
  readonly notes?: readonly SystemNote[];
  /** Whether notes tell of it that come with it, and of none of its fields. */
  readonly toldElsewhere?: true;
  readonly known?: Known;
  /** Ids that were allocated for its system notes. */
  readonly noteIds?: NoteIds;
  /** When the alert of the incident ended, which closes it; absent: now, where closing it resolves the alert. */
  readonly alertEndedAt?: string | undefined;
}

/** What a change brings with it in the same transaction. */
export interface Consequences {
  readonly writes?: readonly Write[];
  readonly messages?: readonly OutboxMessage[];
}

/** What follows from changes of issues, whoever makes them and however. */
const CONSEQUENCES: readonly ((deps: Deps, change: IssueChange) => Promise<Consequences>)[] = [
  toldInNotes,
  toldInEpics,
  datesOfEpics,
  toldInFeeds,
  toldByMail,
  toldToHooks,
  toDo,
  toldWhereNamed,
  resolvesAlert,
];

/** Creates an issue. @throws `404 Project Not Found` when the project is deleted meanwhile, 409 for a number that is taken */
export async function addIssue(deps: Deps, created: Omit<IssueChange, 'before'>): Promise<void> {
  const { access, after, known } = created;
  const [around, following] = await Promise.all([
    surroundingsOf(deps, access.project, after, known),
    consequencesOf(deps, { ...created, before: undefined }),
  ]);
  const { address, userAgent } = created.actor.origin ?? {};
  const agent =
    address !== undefined && userAgent !== undefined
      ? [deps.store.userAgents.write(after, { address, userAgent })]
      : [];
  try {
    await deps.store.issues.create(after, around, {
      ...following,
      alongside: [...following.alongside, ...agent],
    });
  } catch (error) {
    if (error instanceof AlreadyExists) throw conflict('Duplicated issue');
    if (isWithoutEpic(error)) throw recordNotFound();
    throw error instanceof Missing ? notFound('Project') : error;
  }
}

/** Rows that lists find an issue by, in the transaction of another issue; with more of them a job writes them. */
const ROWS_BESIDE = 20;

/**
 * Creates an issue in the transaction that changes another, with all that follows from both.
 * @param changed undefined: no other is changed
 * @param more further writes and messages
 * @throws Stale when the other issue is not as `before`; Missing when one of the projects is deleted;
 *   TransactionRefused for the new issue's number, as `issue`, and for `more`
 */
export async function addBeside(
  deps: Deps,
  changed: (Omit<IssueChange, 'before'> & { readonly before: IssueRecord }) | undefined,
  created: Omit<IssueChange, 'before'>,
  more: Required<Consequences>,
): Promise<void> {
  const around = ({ access, after }: Pick<IssueChange, 'access' | 'after'>) =>
    surroundingsOf(deps, access.project, after);
  const [creation, following, change] = await Promise.all([
    around(created).then((each) => deps.store.issues.creationOf(created.after, each, ROWS_BESIDE)),
    consequencesOf(deps, { ...created, before: undefined }),
    changed && Promise.all([around(changed), consequencesOf(deps, changed)]),
  ]);
  const alongside = [...creation.writes, ...following.alongside, ...more.writes];
  const messages = [...creation.messages, ...following.messages, ...more.messages];
  if (changed === undefined || change === undefined) {
    await deps.store.outbox.commit(alongside, messages);
    return;
  }
  const [surroundings, followingChange] = change;
  await deps.store.issues.update(changed.before, changed.after, surroundings, {
    alongside: [...alongside, ...followingChange.alongside],
    messages: [...messages, ...followingChange.messages],
  });
}

/** A change of the issue as it is by then; it may throw to refuse. */
export type ChangeOfIssue = (before: IssueRecord) => Partial<IssueFields>;

/** What a change has beside the fields. */
interface ChangeOptions {
  /** The new text of the description, which the fields name as it is stored. */
  readonly description?: string | null | undefined;
  /** System notes that do not follow from the fields. */
  readonly notes?: readonly SystemNote[];
  /** Further writes and messages of the same transaction. */
  readonly alongside?: readonly Write[];
  readonly messages?: readonly OutboxMessage[];
  readonly alertEndedAt?: string;
  /** The note by a user that comes (1) or goes (-1) with the change, and what commits the writes of both. */
  readonly note?: NoteOfChange;
}

export interface NoteOfChange {
  readonly change: NoteCounts['notes'];
  readonly write: (alongside: readonly Write[]) => Promise<void>;
}

/**
 * Applies a change to the issue as it is, again when another writer was first.
 * @throws `404 Not found`, also for an issue that the actor may not see; 409 when others keep changing it
 */
export function changeIssue(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  iid: number,
  change: ChangeOfIssue,
  { description, notes = [], alongside = [], messages = [], note, alertEndedAt }: ChangeOptions = {},
): Promise<IssueRecord> {
  const address: IssueAddress = { projectId: access.project.id, iid };
  return retryWhileStale(async () => {
    const before = await deps.store.issues.get(address);
    if (before === undefined || !maySeeIssue(actor, access, before)) throw recordNotFound();
    const changes = edited(actor, before, change(before));
    const after = { ...before, ...changes };
    const [around, following] = await Promise.all([
      surroundingsOf(deps, access.project, after),
      consequencesOf(deps, { actor, access, before, after, description, notes, alertEndedAt }),
    ]);
    const options = {
      ...following,
      alongside: [...following.alongside, ...alongside],
      messages: [...following.messages, ...messages],
      ...(note === undefined ? {} : { add: { userNotesCount: note.change }, within: note.write }),
    };
    return deps.store.issues.update(before, changes, around, options).catch((error: unknown) => {
      if (isWithoutEpic(error)) throw new Stale('epic');
      throw error instanceof TransactionRefused && error.has('alert') ? new Stale('alert') : error;
    });
  });
}

/** Whether an epic that the issue gets or loses was deleted meanwhile. */
const isWithoutEpic = (error: unknown): boolean => error instanceof TransactionRefused && error.has('epic');

async function consequencesOf(deps: Deps, change: IssueChange) {
  const all = await Promise.all(CONSEQUENCES.map((follow) => follow(deps, change)));
  return {
    alongside: all.flatMap(({ writes = [] }) => writes),
    messages: all.flatMap(({ messages = [] }) => messages),
  };
}

async function toldInNotes(deps: Deps, change: IssueChange): Promise<Consequences> {
  const { actor, access, before, after, notes, toldElsewhere, known, noteIds } = change;
  if (toldElsewhere === true) return {};
  const prepared = { milestone: known?.milestone, ids: noteIds };
  return { writes: await systemNotes(deps, actor, access.project, before, after, notes, prepared) };
}

async function datesOfEpics(_deps: Deps, { before, after }: IssueChange): Promise<Consequences> {
  return { messages: datesFollow(before, after) };
}

/** Feeds tell of new issues and of states. */
async function toldInFeeds(deps: Deps, { actor, before, after }: IssueChange): Promise<Consequences> {
  if (before?.state === after.state) return {};
  const { projectId, id, iid, title, confidential } = after;
  const event = await activity(deps, {
    authorId: signedIn(actor).user.id,
    projectId,
    action: before === undefined ? 'created' : after.state === 'closed' ? 'closed' : 'reopened',
    target: { type: 'Issue', id, iid, title, ...(confidential ? { confidential } : {}) },
  });
  return { writes: [event] };
}

async function toldByMail(
  deps: Deps,
  { actor, before, after, description }: IssueChange,
): Promise<Consequences> {
  const changes = toldChanges(before, after, description);
  if (changes.length === 0) return {};
  const { projectId, iid } = after;
  return { messages: [enqueueNotification(deps, actor, { kind: 'issue', projectId, iid, changes })] };
}

async function toldToHooks(deps: Deps, { actor, access, before, after }: IssueChange): Promise<Consequences> {
  const changes = hookChanges(before, after, {
    state_id: ({ state }) => (state === 'opened' ? 1 : 2),
    closed_at: ({ closedAt }) => closedAt,
    confidential: ({ confidential }) => confidential,
    due_date: ({ dueDate }) => dueDate,
    weight: ({ weight }) => weight,
    health_status: ({ healthStatus }) => healthStatus,
    type: ({ type }) => type,
    severity: ({ severity }) => severity.toLowerCase(),
  });
  if (before !== undefined && Object.keys(changes).length === 0) return {};
  const action =
    before === undefined
      ? 'open'
      : before.state === after.state
        ? 'update'
        : after.state === 'closed'
          ? 'close'
          : 'reopen';
  const event = { kind: 'issue', iid: after.iid, action, changes, moment: issueMoment(after) } as const;
  return { messages: await tellHooks(deps, actor, access.project, [event]) };
}

async function toDo(_deps: Deps, { actor, before, after, description }: IssueChange): Promise<Consequences> {
  return {
    messages: issueTodos(after, {
      authorId: signedIn(actor).user.id,
      assignedIds: after.assigneeIds.filter((id) => before?.assigneeIds.includes(id) !== true),
      // It may mention users: a worker finds out whom.
      described: description?.includes('@') ?? false,
      former: before === undefined ? undefined : formerMentions(before.description),
      finished: before !== undefined && before.state !== after.state && after.state === 'closed',
    }),
  };
}

/** New texts may name something: a worker tells there. */
async function toldWhereNamed(
  deps: Deps,
  { actor, before, after, description }: IssueChange,
): Promise<Consequences> {
  const { projectId, iid, title } = after;
  const named = mayNameAny(description) || (title !== before?.title && mayNameAny(title));
  if (!named) return {};
  return { messages: [mentionsMessage({ kind: 'issue', projectId, iid }, moverOf(deps, actor))] };
}

/** Who closes an incident says that its alert is over. One that is moved is worked on elsewhere. */
async function resolvesAlert(
  deps: Deps,
  { actor, before, after, alertEndedAt }: IssueChange,
): Promise<Consequences> {
  const { projectId, alertIid, state, movedTo } = after;
  if (before === undefined || alertIid === undefined || movedTo !== null) return {};
  if (before.state === state || state !== 'closed') return {};
  const alert = await deps.store.alerts.get(projectId, alertIid);
  if (alert === undefined || alert.status === 'resolved') return {};
  const now = deps.now();
  const text =
    alertEndedAt === undefined
      ? `changed the status to **Resolved** by closing #${after.iid}`
      : recoveryText(alert);
  return {
    writes: [
      ...ending(alert, alertEndedAt ?? now.toISOString(), now),
      ...(await systemNoteWrites(deps, actor, alertThread(alert), [{ action: 'status', text }])),
    ],
    messages: alertTodos(alert, {
      authorId: signedIn(actor).user.id,
      releasedIds: alert.assigneeIds ?? [],
    }),
  };
}

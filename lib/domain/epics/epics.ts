/** Epics of groups: who sees a group sees its epics, Reporters change them. */

import { snapshotOf } from '../../records/authors.ts';
import type { EpicRecord } from '../../records/epics.ts';
import { LimitReached, Missing, Stale } from '../../store/errors.ts';
import { followDeletion } from '../../store/labels/uses.ts';
import { mentionsMessage } from '../../store/notes/mentions.ts';
import { removeNotesMessage } from '../../store/notes/notes.ts';
import type { OutboxMessage } from '../../store/outbox/outbox.ts';
import { canInGroup, requireGroupAbility, signedIn } from '../access/permissions.ts';
import type { GroupAccess } from '../access/types.ts';
import { maySeeEpic } from '../access/visible-epics.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { conflict, type FieldProblems, invalid, notFound, recordNotFound, refused } from '../errors.ts';
import { type Activity, activity, prepareActivity } from '../events/record.ts';
import { containerOf } from '../labels/containers.ts';
import { findOrCreateLabels } from '../labels/labels.ts';
import { dropRefused, dropReplaced } from '../long-texts.ts';
import { mayNameAny } from '../markdown/references.ts';
import { enqueueNotification, moverOf } from '../notifications/enqueue.ts';
import { ISSUES, requireRate } from '../rate-limits/action-limits.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';
import { type FoundEpic, lineOf, visibleEpics } from './related.ts';

const MAX_TITLE = 255;
/** Characters. */
const MAX_DESCRIPTION = 1_048_576;
const MAX_LABELS = 500;
/** Epics above each other, the topmost included. */
const MAX_DEPTH = 7;

/** @throws `404 Not found`, also for one that is hidden from the actor */
export async function getEpic(
  deps: Deps,
  actor: Actor,
  access: GroupAccess,
  iid: number,
): Promise<FoundEpic> {
  const epic = await deps.store.epics.numbered(containerOf(access), iid);
  if (epic === undefined || !maySeeEpic(actor, access, epic)) throw recordNotFound();
  return { epic, access };
}

/** The same by the epic's id. @throws `404 Not found` */
export async function getEpicById(
  deps: Deps,
  actor: Actor,
  access: GroupAccess,
  id: number,
): Promise<FoundEpic> {
  const epic = await deps.store.epics.get(id);
  if (epic?.container.id !== access.group.id || !maySeeEpic(actor, access, epic)) throw recordNotFound();
  return { epic, access };
}

export interface EpicInput {
  readonly title?: string | undefined;
  readonly description?: string | null | undefined;
  /** Titles. Those that the group does not have are created. */
  readonly labels?: readonly string[] | undefined;
  readonly confidential?: boolean | undefined;
  readonly parentId?: number | null | undefined;
  readonly startDateFixed?: string | null | undefined;
  readonly startDateIsFixed?: boolean | undefined;
  readonly dueDateFixed?: string | null | undefined;
  readonly dueDateIsFixed?: boolean | undefined;
}

/** @throws 400 by field, 404 when the group is deleted meanwhile, 409 for concurrent creations, 429 */
export async function createEpic(
  deps: Deps,
  actor: Actor,
  access: GroupAccess,
  input: EpicInput & { readonly title: string; readonly createdAt?: Date | undefined },
): Promise<FoundEpic> {
  const { user } = signedIn(actor);
  requireValid(input);
  await requireRate(deps, ISSUES, user);
  const [id, toActivity, parentId, labels] = await Promise.all([
    deps.store.epics.nextId(),
    prepareActivity(deps),
    usableParent(deps, actor, access, input.parentId),
    findOrCreateLabels(deps, access, input.labels ?? [], { create: true }),
  ]);
  const at = deps.now().toISOString();
  const chosen = canInGroup(actor, access, 'own_epics') ? input.createdAt : undefined;
  const description = await keptText(deps, access, input.description ?? null);
  const epic: Omit<EpicRecord, 'iid'> = {
    id,
    container: containerOf(access),
    rootId: lineOf(access.group)[0]!,
    title: input.title.trim(),
    description,
    state: 'opened',
    confidential: input.confidential ?? false,
    author: snapshotOf(user),
    labelIds: labels.map((label) => label.id),
    parentId,
    startDateFixed: input.startDateFixed ?? null,
    startDateIsFixed: input.startDateIsFixed ?? false,
    dueDateFixed: input.dueDateFixed ?? null,
    dueDateIsFixed: input.dueDateIsFixed ?? false,
    closedAt: null,
    closedById: null,
    createdAt: chosen?.toISOString() ?? at,
    updatedAt: at,
    version: 1,
  };
  try {
    const mail = enqueueNotification(deps, actor, { kind: 'epic', groupId: access.group.id, epicId: id });
    const told = (created: EpicRecord) => ({
      writes: [toActivity(epicActivity(created, user.id, 'created'))],
      messages: [mail, ...toldWhereNamed(deps, actor, created, input)],
    });
    return { epic: await deps.store.epics.create(epic, [], told), access };
  } catch (error) {
    await dropRefused(deps, description, error);
    throw translated(error);
  }
}

export interface EpicUpdate extends EpicInput {
  /** Titles, after `labels`. */
  readonly addLabels?: readonly string[] | undefined;
  readonly removeLabels?: readonly string[] | undefined;
  readonly stateEvent?: 'close' | 'reopen' | undefined;
  /** The time of the change, which owners may choose; of others it is ignored. */
  readonly updatedAt?: Date | undefined;
}

/** @throws `404 Not found`, 400 by field, 409 when others keep changing it */
export async function updateEpic(
  deps: Deps,
  actor: Actor,
  access: GroupAccess,
  iid: number,
  input: EpicUpdate,
): Promise<FoundEpic> {
  const { user } = signedIn(actor);
  requireValid(input);
  requireValid({ labels: input.addLabels });
  const found = await getEpic(deps, actor, access, iid);
  const idsOf = async (titles: readonly string[], create: boolean) =>
    (await findOrCreateLabels(deps, access, titles, { create })).map(({ id }) => id);
  const [set, added, removed] = await Promise.all([
    input.labels && idsOf(input.labels, true),
    idsOf(input.addLabels ?? [], true),
    idsOf(input.removeLabels ?? [], false),
  ]);
  const description =
    input.description === undefined ? undefined : await keptText(deps, access, input.description);
  const now = (canInGroup(actor, access, 'own_epics') ? input.updatedAt : undefined) ?? deps.now();
  const attempt = async () => {
    const [{ epic: before }, above] = await Promise.all([
      getEpic(deps, actor, access, iid),
      epicsAbove(deps, actor, access, input.parentId, found.epic.id),
    ]);
    const labelIds = [...new Set([...(set ?? before.labelIds), ...added])].filter(
      (id) => !removed.includes(id),
    );
    if (labelIds.length > MAX_LABELS) throw invalid({ labels: [`are too many (maximum is ${MAX_LABELS})`] });
    const change: Partial<EpicRecord> = {
      ...given('title', input.title?.trim()),
      ...given('description', description),
      ...given('confidential', input.confidential),
      ...given('parentId', input.parentId === undefined ? undefined : (above[0]?.id ?? null)),
      ...given('startDateFixed', input.startDateFixed),
      ...given('startDateIsFixed', input.startDateIsFixed),
      ...given('dueDateFixed', input.dueDateFixed),
      ...given('dueDateIsFixed', input.dueDateIsFixed),
      ...stateAfter(before, input.stateEvent, user.id, now),
      labelIds,
    };
    requireDates({ ...before, ...change });
    const told =
      change.state === undefined
        ? []
        : [
            enqueueNotification(deps, actor, {
              ...{ kind: 'epic', groupId: access.group.id, epicId: before.id },
              what: change.state === 'closed' ? 'closed' : 'reopened',
            }),
          ];
    const after = { ...before, ...change };
    const writes =
      change.state === undefined
        ? []
        : [
            await activity(
              deps,
              epicActivity(after, user.id, change.state === 'closed' ? 'closed' : 'reopened'),
            ),
          ];
    return {
      before,
      epic: await deps.store.epics.change(before, change, [], now, {
        // Another request may put one of those above below this one.
        writes: [...writes, ...above.map((epic) => deps.store.epics.unchanged(epic))],
        messages: [...told, ...toldWhereNamed(deps, actor, before, input)],
      }),
    };
  };
  try {
    const { before, epic } = await retryOnConflict(attempt, (error) => error instanceof Stale);
    if (description !== undefined) await dropReplaced(deps, before.description);
    return { epic, access };
  } catch (error) {
    await dropRefused(deps, description, error);
    throw translated(error);
  }
}

/** Its issues lose it, and its notes are removed, in the background. @throws `404 Not found`, 409 */
export async function deleteEpic(
  deps: Deps,
  actor: Actor,
  access: GroupAccess,
  iid: number,
  unmodifiedSince: (changed: string) => void,
): Promise<void> {
  const attempt = async () => {
    const { epic } = await getEpic(deps, actor, access, iid);
    requireGroupAbility(actor, access, 'own_epics');
    unmodifiedSince(epic.updatedAt);
    const noteable = { kind: 'epic', id: epic.id, groupId: access.group.id } as const;
    const messages = [followDeletion({ facet: 'epic', ...epic }), removeNotesMessage(0, noteable)];
    await deps.store.epics.remove(epic, { messages });
    await dropReplaced(deps, epic.description);
  };
  await retryOnConflict(attempt, (error) => error instanceof Stale).catch((error: unknown) => {
    throw translated(error);
  });
}

/**
 * The parent of a new epic: an epic of the group or of one above it. @param id null or 0: none
 * @throws 400 for an epic that is hidden, elsewhere, or too deep
 */
export async function usableParent(
  deps: Deps,
  actor: Actor,
  access: GroupAccess,
  id: number | null | undefined,
): Promise<number | null> {
  return (await epicsAbove(deps, actor, access, id))[0]?.id ?? null;
}

/** The parent that an epic gets, and those above it. @throws 400 as {@link usableParent}, and for an epic below the child */
async function epicsAbove(
  deps: Deps,
  actor: Actor,
  access: GroupAccess,
  id: number | null | undefined,
  childId?: number,
): Promise<readonly EpicRecord[]> {
  if (id === undefined || id === null || id === 0) return [];
  const wrong = invalid({ parent: ['is invalid'] });
  const parent = (await visibleEpics(deps, actor, [id])).get(id)?.epic;
  if (parent === undefined || !lineOf(access.group).includes(parent.container.id)) throw wrong;
  const above: EpicRecord[] = [];
  for (let next: EpicRecord | undefined = parent; next !== undefined; ) {
    if (next.id === childId || above.length + 1 === MAX_DEPTH) throw wrong;
    above.push(next);
    next = next.parentId === null ? undefined : await deps.store.epics.get(next.parentId);
  }
  return above;
}

/** New texts may name something: a worker tells there. */
const toldWhereNamed = (
  deps: Deps,
  actor: Actor,
  { id, container }: EpicRecord,
  { title, description }: Pick<EpicInput, 'title' | 'description'>,
): OutboxMessage[] =>
  mayNameAny(title) || mayNameAny(description)
    ? [mentionsMessage({ kind: 'epic', groupId: container.id, id }, moverOf(deps, actor))]
    : [];

/** What feeds tell of an epic. */
export const epicActivity = (
  { id, iid, title, container, confidential }: EpicRecord,
  authorId: number,
  action: 'created' | 'closed' | 'reopened',
): Activity => ({
  ...{ authorId, projectId: 0, groupId: container.id, action },
  target: { type: 'Epic', id, iid, title, ...(confidential ? { confidential } : {}) },
});

/** Closing a closed epic, or reopening an open one, changes nothing. */
function stateAfter(
  before: EpicRecord,
  event: 'close' | 'reopen' | undefined,
  userId: number,
  at: Date,
): Partial<EpicRecord> {
  if (event === 'close' && before.state === 'opened')
    return { state: 'closed', closedAt: at.toISOString(), closedById: userId };
  if (event === 'reopen' && before.state === 'closed')
    return { state: 'opened', closedAt: null, closedById: null };
  return {};
}

const given = <K extends keyof EpicRecord>(name: K, value: EpicRecord[K] | undefined) =>
  value === undefined ? {} : { [name]: value };

const keptText = async ({ store }: Deps, access: GroupAccess, text: string | null) =>
  text === null ? null : store.texts.keep(containerOf(access), text);

/** @throws 400 by field */
function requireValid({ title, description, labels, ...dates }: EpicInput): void {
  const problems: Record<string, string[]> = {};
  const add = (field: string, wrong: boolean, problem: string) => {
    if (wrong) (problems[field] ??= []).push(problem);
  };
  const tooLong = (limit: number) => `is too long (maximum is ${limit} characters)`;
  add('title', title !== undefined && title.trim() === '', "can't be blank");
  add('title', [...(title ?? '')].length > MAX_TITLE, tooLong(MAX_TITLE));
  add('description', (description ?? '').length > MAX_DESCRIPTION, tooLong(MAX_DESCRIPTION));
  add('labels', new Set(labels).size > MAX_LABELS, `are too many (maximum is ${MAX_LABELS})`);
  if (Object.keys(problems).length > 0) throw invalid(problems satisfies FieldProblems);
  requireDates(dates);
}

/** @throws 400 by field */
function requireDates({
  startDateFixed: start,
  dueDateFixed: due,
}: Pick<EpicInput, 'startDateFixed' | 'dueDateFixed'>): void {
  if (start && due && due < start) throw invalid({ due_date: ['must be greater than start date'] });
}

function translated(error: unknown): unknown {
  if (error instanceof Missing) return notFound('Group');
  if (error instanceof Stale) return conflict('409 Conflict: Resource lock');
  return error instanceof LimitReached ? refused(error.message) : error;
}

import { inTurns } from '../../git/work.ts';
import { snapshotOf } from '../../records/authors.ts';
import type { IssueFields, IssueRecord } from '../../records/issues.ts';
import type { SystemNote } from '../../records/notes.ts';
import type { StoredText } from '../../records/texts.ts';
import { can, signedIn } from '../access/permissions.ts';
import { projectAccesses } from '../access/project-accesses.ts';
import type { ProjectAccess } from '../access/types.ts';
import { isOwn, maySeeIssue } from '../access/visible-issues.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { epicFor } from '../epics/for-issues.ts';
import { forbidden, notFound, recordNotFound } from '../errors.ts';
import { iterationFor } from '../iterations/iterations.ts';
import { findOrCreateLabels } from '../labels/labels.ts';
import { dropRefused, dropReplaced } from '../long-texts.ts';
import { ISSUES, requireRate } from '../rate-limits/action-limits.ts';
import { retryWhileStale } from '../retry-while-stale.ts';
import { assignable, keptText, labelChange, usableMilestone } from '../tracked/input.ts';
import { surroundingsOf } from '../tracked/related.ts';
import { tasksOf } from '../tracked/tasks.ts';
import { addIssue, changeIssue } from './change.ts';
import { datesFollow } from './epic-dates.ts';
import { type IssueMetadata, type IssueTexts, requireValid } from './input.ts';
import type { FoundIssue } from './related.ts';
import { noteIdsOf } from './system-notes.ts';

/** Finds an issue by its number. @throws `404 Not found`, also for one that is hidden from the actor */
export async function getIssue(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  iid: number,
): Promise<FoundIssue> {
  const issue = await deps.store.issues.get({ projectId: access.project.id, iid });
  if (issue === undefined || !maySeeIssue(actor, access, issue)) throw recordNotFound();
  return { issue, access };
}

/** Finds an issue of any project by its id. @throws `404 Not found` */
export async function getIssueById(deps: Deps, actor: Actor, id: number): Promise<FoundIssue> {
  const [address] = await deps.store.issues.addresses([id]);
  const [access] = address === undefined ? [] : await projectAccesses(deps, actor, [address.projectId]);
  if (address === undefined || access === undefined) throw recordNotFound();
  return getIssue(deps, actor, access, address.iid);
}

/** What becomes of a new description: its text without the quick actions in it, and what these make of the issue. */
export interface ActedDescription {
  readonly text: string;
  /** @throws 400 for what no issue may have */
  change(issue: IssueRecord): Partial<IssueFields>;
  readonly notes: readonly SystemNote[];
  /** What the actions do beside, after the change. */
  finish(issue: IssueRecord): Promise<void>;
}

/** The issue that a description is of; one that is new has no record yet. */
export interface DescribedIssue extends Pick<IssueRecord, 'type' | 'confidential'> {
  readonly stored: IssueRecord | undefined;
}

/** Runs the quick actions of a description. @returns undefined where there are none */
export type ActOn = (
  description: string,
  issueOf: () => Promise<DescribedIssue>,
) => Promise<ActedDescription | undefined>;

const noActions: ActOn = () => Promise.resolve(undefined);

/** What owners may choose; of others it is ignored. */
interface Chosen {
  readonly iid?: number | undefined;
  readonly createdAt?: Date | undefined;
}

export interface NewIssueInput extends IssueTexts, IssueMetadata, Chosen {
  readonly title: string;
  readonly confidential?: boolean | undefined;
}

/** @throws 400 by field, 404 when the project is deleted meanwhile, 409 for a number that is taken */
export async function createIssue(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  input: NewIssueInput,
  act = noActions,
): Promise<FoundIssue> {
  const { user } = signedIn(actor);
  const { project } = access;
  requireValid(input);
  const metadata: IssueMetadata = can(actor, access, 'update_issue') ? input : {};
  const chosen: Chosen = can(actor, access, 'own_issues') ? input : {};
  deps.store.events.prepare();
  await requireRate(deps, ISSUES, user);
  const { confidential = false } = input;
  const { type = 'issue' } = metadata;
  const acted = await act(input.description ?? '', async () => ({ stored: undefined, type, confidential }));
  const description = acted?.text ?? input.description ?? null;
  const noteCount = noteIdsOf(metadata.labels?.length ?? 0, metadata);
  const [{ id, iid }, assignees, labels, milestone, lastNoteId, iterationId, epic] = await Promise.all([
    deps.store.issues.allocate(project.id, chosen.iid),
    assignable(deps, access, metadata.assigneeIds ?? [], 'read_issues'),
    findOrCreateLabels(deps, access, metadata.labels ?? [], { create: true }),
    usableMilestone(deps, access, metadata.milestoneId),
    noteCount === 0 ? 0 : deps.store.notes.reserveIds(noteCount),
    usableIteration(deps, access, metadata.iterationId),
    epicFor(deps, actor, project, metadata),
  ]);
  const at = deps.now().toISOString();
  const written: IssueRecord = {
    id,
    iid,
    projectId: project.id,
    title: input.title.trim(),
    description: await keptText(deps, project.id, description),
    state: 'opened',
    confidential,
    type,
    author: snapshotOf(user),
    assigneeIds: assignees.map((assignee) => assignee.id),
    labelIds: labels.map((label) => label.id),
    milestoneId: milestone?.id ?? null,
    iterationId: iterationId ?? null,
    epicId: epic?.id ?? null,
    dueDate: metadata.dueDate ?? null,
    weight: metadata.weight ?? null,
    healthStatus: metadata.healthStatus ?? null,
    severity: metadata.severity ?? 'UNKNOWN',
    discussionLocked: metadata.discussionLocked ?? null,
    timeEstimate: 0,
    timeSpent: 0,
    closedAt: null,
    closedById: null,
    movedTo: null,
    duplicatedTo: null,
    relativePosition: null,
    tasks: await inTurns(tasksOf(description)),
    createdAt: chosen.createdAt?.toISOString() ?? at,
    updatedAt: at,
    userNotesCount: 0,
    upvotes: 0,
    downvotes: 0,
    version: 1,
  };
  let issue: IssueRecord;
  try {
    issue = { ...written, ...acted?.change(written) };
    const known = { labels, milestone: milestone ?? undefined };
    const noteIds = { first: lastNoteId - noteCount + 1, count: noteCount };
    const notes = acted?.notes ?? [];
    await addIssue(deps, { actor, access, after: issue, description, notes, known, noteIds });
  } catch (error) {
    await dropRefused(deps, written.description, error);
    throw error;
  }
  await acted?.finish(issue);
  return { issue, access };
}

export interface IssueUpdateInput extends IssueTexts, IssueMetadata {
  readonly confidential?: boolean | undefined;
  /** Titles, after `labels`. */
  readonly addLabels?: readonly string[] | undefined;
  readonly removeLabels?: readonly string[] | undefined;
  readonly stateEvent?: 'close' | 'reopen' | undefined;
  /** The time of the change, which owners may choose; of others it is ignored. */
  readonly updatedAt?: Date | undefined;
}

/**
 * Changes an issue. Authors and assignees below Reporter change its texts and its state; what else they send is ignored.
 * @throws `404 Not found`, 403, 400 by field, 409 when others keep changing it
 */
export async function updateIssue(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  iid: number,
  input: IssueUpdateInput,
  act = noActions,
): Promise<FoundIssue> {
  requireValid(input);
  requireValid({ labels: input.addLabels });
  const { user } = signedIn(actor);
  const all = can(actor, access, 'update_issue');
  const metadata: Omit<IssueUpdateInput, keyof IssueTexts> = all ? input : {};
  const stored = () => getIssue(deps, actor, access, iid);
  const labelsAfter = await labelChange(deps, access, metadata, stored);
  const assignees =
    metadata.assigneeIds === undefined
      ? undefined
      : await assignable(deps, access, metadata.assigneeIds, 'read_issues');
  const milestone = await usableMilestone(deps, access, metadata.milestoneId);
  const iterationId = await usableIteration(deps, access, metadata.iterationId);
  const epic = await epicFor(deps, actor, access.project, metadata);
  const acted = await act(input.description ?? '', async () => {
    const { issue: before } = await stored();
    return { stored: before, type: before.type, confidential: before.confidential };
  });
  const text = acted?.text ?? input.description;
  const description = text === undefined ? undefined : await keptText(deps, access.project.id, text);
  const tasks = text === undefined ? undefined : await inTurns(tasksOf(text));
  let replaced: StoredText | null | undefined;
  let issue: IssueRecord;
  try {
    const change = (before: IssueRecord): Partial<IssueFields> => {
      if (!mayUpdate(actor, access, before)) throw forbidden();
      replaced = description === undefined ? undefined : before.description;
      const at = (can(actor, access, 'own_issues') ? input.updatedAt : undefined) ?? deps.now();
      const changes: Partial<IssueFields> = {
        ...(input.title === undefined ? {} : { title: input.title.trim() }),
        ...given('description', description),
        ...given('tasks', tasks),
        ...given('type', metadata.type),
        ...given('confidential', all ? input.confidential : undefined),
        ...labelsAfter(before),
        ...given('milestoneId', milestone === null ? null : milestone?.id),
        ...given('iterationId', iterationId),
        ...given('epicId', epic === undefined ? undefined : (epic?.id ?? null)),
        ...given(
          'assigneeIds',
          assignees?.map(({ id }) => id),
        ),
        ...given('dueDate', metadata.dueDate),
        ...given('weight', metadata.weight),
        ...given('healthStatus', metadata.healthStatus),
        ...given('severity', metadata.severity),
        ...given('discussionLocked', metadata.discussionLocked),
        ...stateAfter(before, input.stateEvent, user.id, at),
        updatedAt: at.toISOString(),
      };
      return { ...changes, ...acted?.change({ ...before, ...changes }) };
    };
    const notes = acted?.notes ?? [];
    issue = await changeIssue(deps, actor, access, iid, change, { description: text, notes });
  } catch (error) {
    await dropRefused(deps, description, error);
    throw error;
  }
  await dropReplaced(deps, replaced);
  await acted?.finish(issue);
  return { issue, access };
}

/** Whether the actor may change the texts and the state of an issue. */
export const mayUpdate = (actor: Actor, access: ProjectAccess, issue: IssueRecord): boolean =>
  can(actor, access, 'update_issue') || (isOwn(actor, issue) && can(actor, access, 'create_issue'));

/** @throws `404 Issue Not Found`, 403, 409 when others keep changing it */
export async function deleteIssue(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  iid: number,
  unmodifiedSince: (changed: string) => void,
): Promise<void> {
  const address = { projectId: access.project.id, iid };
  await retryWhileStale(async () => {
    const issue = await deps.store.issues.get(address);
    if (issue === undefined || !maySeeIssue(actor, access, issue)) throw notFound('Issue');
    if (!can(actor, access, 'own_issues')) throw forbidden();
    unmodifiedSince(issue.updatedAt);
    await deps.store.issues.remove(issue, await surroundingsOf(deps, access.project, issue), {
      messages: datesFollow(issue, undefined),
    });
    await dropReplaced(deps, issue.description);
  });
}

/** @returns undefined where it stays as it is @throws 404 for one that is of no group above */
async function usableIteration(
  deps: Deps,
  access: ProjectAccess,
  id: number | null | undefined,
): Promise<number | null | undefined> {
  if (id === undefined) return undefined;
  if (id === null || id === 0) return null;
  const iteration = await iterationFor(deps, access, id);
  if (iteration === undefined) throw notFound('Iteration');
  return iteration.id;
}

/** Closing a closed issue, or reopening an open one, changes nothing. */
export function stateAfter(
  before: Pick<IssueFields, 'state'>,
  event: 'close' | 'reopen' | undefined,
  userId: number,
  at: Date,
): Partial<IssueFields> {
  if (event === 'close' && before.state === 'opened')
    return { state: 'closed', closedAt: at.toISOString(), closedById: userId };
  if (event === 'reopen' && before.state === 'closed')
    return { state: 'opened', closedAt: null, closedById: null };
  return {};
}

const given = <K extends keyof IssueFields>(name: K, value: IssueFields[K] | undefined) =>
  value === undefined ? {} : { [name]: value };

/**
 * Issues are moved to another project, or cloned. One transaction creates the issue there, closes the moved one, and
 * promises the rest: notes and files are copied by the job `issue.copy`.
 */

import { snapshotOf } from '../../records/authors.ts';
import type { IssueRecord, IssueReference } from '../../records/issues.ts';
import { type NoteRecord, systemNote } from '../../records/notes.ts';
import { Missing, Stale, TransactionRefused } from '../../store/errors.ts';
import { noteWrites } from '../../store/notes/notes.ts';
import { can, signedIn } from '../access/permissions.ts';
import { projectAccesses } from '../access/project-accesses.ts';
import type { ProjectAccess } from '../access/types.ts';
import { maySeeIssue } from '../access/visible-issues.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { conflict, notFound, refused } from '../errors.ts';
import { addBeside } from '../issues/change.ts';
import type { FoundIssue } from '../issues/related.ts';
import { withAbove } from '../labels/containers.ts';
import { findOrCreateLabels } from '../labels/labels.ts';
import { labelsOf } from '../labels/of-records.ts';
import { dropRefused } from '../long-texts.ts';
import { ISSUES, requireRate } from '../rate-limits/action-limits.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';
import { assignable } from '../tracked/input.ts';
import { milestonesOf } from '../tracked/related.ts';
import { rewritten } from './rewrite.ts';

/** @throws `404 Issue Not Found`, `404 Project Not Found`, 400 where it may not be moved, 409 when others keep changing it */
export const moveIssue = (
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  iid: number,
  toProjectId: number,
): Promise<FoundIssue> => relocate(deps, actor, access, iid, toProjectId, { verb: 'move', withNotes: true });

/** The clone is the actor's, new and open. @throws as {@link moveIssue} */
export const cloneIssue = (
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  iid: number,
  toProjectId: number,
  { withNotes }: { readonly withNotes: boolean },
): Promise<FoundIssue> => relocate(deps, actor, access, iid, toProjectId, { verb: 'clone', withNotes });

interface How {
  readonly verb: 'move' | 'clone';
  readonly withNotes: boolean;
}

async function relocate(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  iid: number,
  toProjectId: number,
  how: How,
): Promise<FoundIssue> {
  const { user } = signedIn(actor);
  const address = { projectId: access.project.id, iid };
  const [found, [target]] = await Promise.all([
    deps.store.issues.get(address),
    projectAccesses(deps, actor, [toProjectId]),
  ]);
  if (found === undefined || !maySeeIssue(actor, access, found)) throw notFound('Issue');
  if (target === undefined) throw notFound('Project');
  requireMovable(actor, access, found, target, how);
  await requireRate(deps, ISSUES, user);
  const attempt = async () => {
    const before = await deps.store.issues.get(address);
    if (before === undefined) throw notFound('Issue');
    requireMovable(actor, access, before, target, how);
    return { issue: await bring(deps, actor, before, access, target, how), access: target };
  };
  return retryOnConflict(attempt, isLost).catch((error: unknown) => {
    if (error instanceof Missing || isRefused(error, 'project')) throw notFound('Project');
    throw isLost(error) ? conflict('409 Conflict: Resource lock') : error;
  });
}

const isRefused = (error: unknown, ...reasons: string[]): boolean =>
  error instanceof TransactionRefused && reasons.some((reason) => error.has(reason));

/** Others changed or deleted the issue, deleted its author, or took its new number. */
const isLost = (error: unknown): boolean =>
  error instanceof Stale || isRefused(error, 'issue', 'source', 'user');

/** @throws `404 Issue Not Found`, 400 */
function requireMovable(
  actor: Actor,
  access: ProjectAccess,
  issue: IssueRecord,
  target: ProjectAccess,
  { verb }: How,
): void {
  if (!maySeeIssue(actor, access, issue)) throw notFound('Issue');
  if (issue.type === 'test_case') throw refused(`Cannot ${verb} issues of 'test_case' type.`);
  const may = [access, target].every((each) => can(actor, each, 'update_issue'));
  // An issue moves once: the one that took its place can move on.
  if (!may || issue.movedTo !== null) throw refused(`Cannot ${verb} issue due to insufficient permissions!`);
  if (verb === 'move' && target.project.id === access.project.id)
    throw refused('Cannot move issue to project it originates from!');
}

/** @returns the new issue */
async function bring(
  deps: Deps,
  actor: Actor,
  before: IssueRecord,
  source: ProjectAccess,
  target: ProjectAccess,
  how: How,
): Promise<IssueRecord> {
  const { user } = signedIn(actor);
  const { store } = deps;
  const isMove = how.verb === 'move';
  const [{ id, iid }, kept, values, assignees, author, copied] = await Promise.all([
    store.issues.allocate(target.project.id),
    keptDescription(deps, actor, before, source, target),
    titledAlike(deps, before, target),
    assignable(deps, target, before.assigneeIds, 'read_issues'),
    isMove ? presentAuthor(deps, before) : undefined,
    how.withNotes ? store.notes.countIds(source.project.id, noteableOf(before)) : 0,
  ]);
  // One more for each of the notes that tell of it.
  const last = await store.notes.reserveIds(copied + 2);
  const at = deps.now().toISOString();
  const me = snapshotOf(user);
  const shareGroups = source.project.ancestorIds.every((each) => target.project.ancestorIds.includes(each));
  // The alert stays with the project; merge requests name the issue that they named.
  const { alertIid: _alert, closers: _closers, updatedById: _by, lastEdited: _edited, ...taken } = before;
  const issue: IssueRecord = {
    ...taken,
    id,
    iid,
    projectId: target.project.id,
    description: kept.stored,
    ...values,
    assigneeIds: assignees.map((each) => each.id),
    author: author ?? me,
    ...(isMove ? {} : { state: 'opened', closedAt: null, closedById: null, createdAt: at, timeSpent: 0 }),
    ...(shareGroups ? {} : { epicId: null, iterationId: null }),
    relativePosition: null,
    movedTo: null,
    duplicatedTo: null,
    updatedAt: at,
    userNotesCount: 0,
    upvotes: 0,
    downvotes: 0,
    version: 1,
  };
  const after: IssueRecord = {
    ...before,
    ...(before.state === 'closed' ? {} : { state: 'closed', closedAt: at, closedById: user.id }),
    movedTo: referenceOf(issue),
    updatedAt: at,
    updatedById: user.id,
  };
  const told = isMove ? 'moved' : 'cloned';
  const note = (on: IssueRecord, noteId: number, text: string, other: IssueRecord): NoteRecord => {
    const mentionedIn = { kind: 'issue', projectId: other.projectId, iid: other.iid } as const;
    const place = { projectId: on.projectId, noteable: noteableOf(on), iid: on.iid };
    return systemNote(noteId, place, { action: told, text, mentionedIn }, user, at);
  };
  const { write, message } = store.issueCopies.begin({
    ...{
      source: referenceOf(before),
      target: referenceOf(issue),
      actorId: user.id,
      withNotes: how.withNotes,
    },
    ...{ upTo: last - copied - 2, ids: { next: last - copied - 1, last: last - 2 } },
    ...{ step: 'files', after: 0, part: null, version: 1 },
  });
  const writes = [
    write,
    ...noteWrites(note(issue, last - 1, `${told} from ${full(source, before)}`, before)),
    ...noteWrites(note(before, last, `${told} to ${full(target, issue)}`, issue)),
    ...(issue.author.id === user.id ? [] : [store.users.isThere(issue.author.id)]),
  ];
  const by = { actor, toldElsewhere: true } as const;
  try {
    await addBeside(
      deps,
      isMove ? { ...by, access: source, before, after, description: undefined } : undefined,
      { ...by, access: target, after: issue, description: kept.text },
      { writes: isMove ? writes : [...writes, store.issues.isThere(before)], messages: [message] },
    );
  } catch (error) {
    await dropRefused(deps, kept.stored, error);
    throw error;
  }
  return issue;
}

const full = ({ project }: ProjectAccess, { iid }: IssueRecord): string => `${project.fullPath}#${iid}`;

const noteableOf = ({ id }: IssueRecord) => ({ kind: 'issue', id }) as const;

const referenceOf = ({ id, projectId, iid }: IssueRecord): IssueReference => ({ id, projectId, iid });

/** The description as it reads in the target, stored there. */
async function keptDescription(
  deps: Deps,
  actor: Actor,
  { description }: IssueRecord,
  source: ProjectAccess,
  target: ProjectAccess,
) {
  if (description === null) return { text: null, stored: null };
  const written = await deps.store.texts.read(description);
  const [text] = (await rewritten(deps, { actor, source, target }, [written])) as [string];
  return { text, stored: await deps.store.texts.keep(target.project.id, text) };
}

/** The labels and the milestone of the target that have the titles of the issue's; what is missing stays behind. */
async function titledAlike(deps: Deps, issue: IssueRecord, target: ProjectAccess) {
  const [labels, milestones] = await Promise.all([labelsOf(deps, [issue]), milestonesOf(deps, [issue])]);
  const titles = issue.labelIds.flatMap((id) => labels.get(id)?.title ?? []);
  const [found, milestoneIds] = await Promise.all([
    findOrCreateLabels(deps, target, titles, { create: false }),
    Promise.all(
      [...milestones.values()].map(({ title }) => deps.store.milestones.titled(withAbove(target), title)),
    ),
  ]);
  return { labelIds: found.map(({ id }) => id), milestoneId: milestoneIds.flat()[0] ?? null };
}

/** The author, or the ghost where the account is being deleted. */
async function presentAuthor({ store }: Deps, { author }: IssueRecord) {
  if ((await store.users.get(author.id)) !== undefined) return author;
  return snapshotOf(await store.users.ghost());
}

/** An issue becomes an epic of its project's group: one transaction makes the epic and closes the issue. */

import { snapshotOf } from '../../records/authors.ts';
import type { EpicRecord } from '../../records/epics.ts';
import type { IssueRecord } from '../../records/issues.ts';
import { type NoteRecord, systemNote } from '../../records/notes.ts';
import { TransactionRefused } from '../../store/errors.ts';
import { noteWrites } from '../../store/notes/notes.ts';
import { outboxWrites } from '../../store/outbox/outbox.ts';
import { can, canInGroup, signedIn } from '../access/permissions.ts';
import type { GroupAccess, ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { epicActivity, usableParent } from '../epics/epics.ts';
import { lineOf } from '../epics/related.ts';
import { conflict, DomainError, refused } from '../errors.ts';
import { prepareActivity } from '../events/record.ts';
import { groupAccesses } from '../groups/details.ts';
import { changeIssue } from '../issues/change.ts';
import { stateAfter } from '../issues/issues.ts';
import { containerOf } from '../labels/containers.ts';
import { labelsOf } from '../labels/of-records.ts';
import { dropRefused } from '../long-texts.ts';
import { enqueueNotification } from '../notifications/enqueue.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';

/** The group in which the actor may make an issue of the project an epic. @returns undefined where there is none */
export async function groupForPromotion(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
): Promise<GroupAccess | undefined> {
  const { project } = access;
  if (project.namespaceKind !== 'group' || !can(actor, access, 'update_issue')) return undefined;
  const [group] = await groupAccesses(deps, actor, [project.namespaceId]);
  return group !== undefined && canInGroup(actor, group, 'admin_epic') ? group : undefined;
}

/**
 * Notes and files stay with the issue, which names the epic.
 * @throws `404 Not found`, 400 where it may not be made one or is closed, 409 when others keep changing it
 */
export async function promoteIssue(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  iid: number,
): Promise<EpicRecord> {
  const { store } = deps;
  const { user } = signedIn(actor);
  const group = await groupForPromotion(deps, actor, access);
  if (group === undefined) throw cannot();
  const [issue, id] = await Promise.all([
    store.issues.get({ projectId: access.project.id, iid }),
    store.epics.nextId(),
  ]);
  if (issue === undefined) throw cannot();
  const [labels, toActivity, parentId, first] = await Promise.all([
    labelsOf(deps, [issue]),
    prepareActivity(deps),
    parentOf(deps, actor, group, issue),
    store.notes.reserveIds(1),
  ]);
  const at = deps.now();
  const written = issue.description === null ? null : await store.texts.read(issue.description);
  const description = written === null ? null : await store.texts.keep(containerOf(group), written);
  const fresh: Omit<EpicRecord, 'iid'> = {
    id,
    container: containerOf(group),
    rootId: lineOf(group.group)[0]!,
    title: issue.title,
    description,
    state: 'opened',
    confidential: issue.confidential,
    author: snapshotOf(user),
    labelIds: issue.labelIds.filter((each) => {
      const container = labels.get(each)?.container;
      return container?.kind === 'group' && lineOf(group.group).includes(container.id);
    }),
    parentId,
    ...{ startDateFixed: null, startDateIsFixed: false, dueDateFixed: null, dueDateIsFixed: false },
    ...{ closedAt: null, closedById: null },
    createdAt: at.toISOString(),
    updatedAt: at.toISOString(),
    version: 1,
  };
  const noteFrom = ({ container, iid: number }: EpicRecord): NoteRecord =>
    systemNote(
      first,
      { projectId: 0, noteable: { kind: 'epic', id, groupId: container.id }, iid: number },
      {
        action: 'epic_issue',
        text: `promoted from issue ${access.project.fullPath}#${iid}`,
        mentionedIn: { kind: 'issue', projectId: access.project.id, iid },
      },
      user,
      at.toISOString(),
    );
  const mail = enqueueNotification(deps, actor, { kind: 'epic', groupId: group.group.id, epicId: id });
  const attempt = async () => {
    const { created, writes } = await store.epics.creationOf(fresh);
    const close = (before: IssueRecord) => {
      // Of two who promote it one wins.
      if (before.state !== 'opened') throw conflict('409 Conflict: Resource lock');
      return { ...stateAfter(before, 'close', user.id, at), updatedAt: at.toISOString() };
    };
    const text = `promoted to epic ${group.group.fullPath}&${created.iid}`;
    await changeIssue(deps, actor, access, iid, close, {
      notes: [{ action: 'epic', text, mentionedIn: { kind: 'epic', id } }],
      alongside: [
        ...writes,
        toActivity(epicActivity(created, user.id, 'created')),
        ...noteWrites(noteFrom(created)),
        ...outboxWrites([mail]),
      ],
    });
    return created;
  };
  const isTaken = (error: unknown) => error instanceof TransactionRefused && error.has('count');
  try {
    const epic = await retryOnConflict(attempt, isTaken);
    await store.outbox.deliver([mail]);
    return epic;
  } catch (error) {
    await dropRefused(deps, description, error);
    throw error instanceof TransactionRefused ? cannot() : error;
  }
}

const cannot = () => refused('Cannot promote issue due to insufficient permissions.');

/** The epic of the issue, where the new one may be below it. */
async function parentOf(
  deps: Deps,
  actor: Actor,
  group: GroupAccess,
  { epicId }: IssueRecord,
): Promise<number | null> {
  try {
    return await usableParent(deps, actor, group, epicId);
  } catch (error) {
    if (error instanceof DomainError) return null;
    throw error;
  }
}

/**
 * Deletions of groups, and of projects in them, that come some days after somebody asked, and may be taken back until
 * then. Who asks writes a {@link DeletionMark} into the record and the promise beside it, in one transaction; who takes
 * it back writes null. The promise is a message dated ahead, so the sweep of the outbox finds what is due, in the order of
 * its time and so many a minute. A promise whose mark is gone, or is another, does nothing.
 */

import type { DeletionMark } from '../../records/deletion.ts';
import type { GroupRecord } from '../../records/groups.ts';
import type { MemberSource } from '../../records/members.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { Missing } from '../../store/errors.ts';
import { MAINTENANCE, messageAt, outboxWrite } from '../../store/outbox/outbox.ts';
import type { Write } from '../../store/table/write.ts';
import { authorIn, type Requester } from '../audit-events/event.ts';
import { happened } from '../audit-events/setting-changes.ts';
import { dayIn, dayOf } from '../days.ts';
import type { Deps } from '../deps.ts';
import { resourceNoun } from '../errors.ts';

/** The maintenance queue's job that deletes what is due: a project or group, and the day that its mark named. */
export const DELETION_JOB = 'deletion.due';

/** @returns what a deletion that is asked for now writes into the record; undefined: it is deleted at once */
export async function deletionMark(
  deps: Deps,
  kind: MemberSource['kind'],
): Promise<DeletionMark | undefined> {
  const settings = await deps.settings.current();
  const days = settings.deletion_adjourned_period;
  if (!settings[`delayed_${kind}_deletion`] || days <= 0) return undefined;
  const now = deps.now();
  return { askedAt: now.toISOString(), dueOn: dayIn(now, days) };
}

/** The day somebody asked, as answers tell it. */
export const markedOn = ({ askedAt }: DeletionMark): string => askedAt.slice(0, 10);

/** For the transaction that marks a project or group. */
export function scheduleDeletion(
  { kind, id }: MemberSource,
  { askedAt, dueOn }: DeletionMark,
  by: Requester,
): Write {
  // Whole days, and not all at midnight.
  const at = new Date(dueOn + askedAt.slice(10));
  return outboxWrite(messageAt(MAINTENANCE, DELETION_JOB, { kind, id, dueOn, by }, at));
}

/**
 * Deletes what is still marked for that day. @param due.by who asked for it
 * @throws Stale when it changed meanwhile: to be tried again
 */
export async function deleteDue(
  deps: Deps,
  { kind, id }: MemberSource,
  { dueOn, by }: { readonly dueOn: string; readonly by?: Requester },
): Promise<void> {
  const { projects, groups } = deps.store;
  const now = deps.now();
  const isDue = (mark: DeletionMark | null | undefined) => mark?.dueOn === dueOn && dueOn <= dayOf(now);
  try {
    if (kind === 'project') {
      const project = await projects.get(id);
      if (project !== undefined && isDue(project.deletion)) await removeWhole(deps, project, by);
    } else {
      const group = await groups.get(id);
      if (group !== undefined && isDue(group.deletion)) await removeGroup(deps, group, by);
    }
  } catch (error) {
    if (!(error instanceof Missing)) throw error;
  }
}

/** A project, gone at once for everybody. @throws Stale, Missing */
export async function removeWhole(deps: Deps, project: ProjectRecord, by?: Requester): Promise<void> {
  const event = await happened(deps, authorIn({ by }), 'Project', project, { remove: 'project' });
  await deps.store.projects.remove(project, { now: deps.now(), alongside: [event] });
}

/** A group with all that is inside, which {@link emptyGroup} takes away. @throws Stale, Missing */
export async function removeGroup(deps: Deps, group: GroupRecord, by?: Requester): Promise<void> {
  const event = await happened(deps, authorIn({ by }), 'Group', group, { remove: 'group' });
  await deps.store.groups.remove(group, {
    now: deps.now(),
    alongside: [event],
    ...(by && { by: { ...by } }),
  });
}

/** What is inside a deleted group, each of it recorded as what somebody asked to be removed. @returns whether nothing is left */
export function emptyGroup(
  deps: Deps,
  { groupId, by }: { readonly groupId: number; readonly by?: Requester },
  deadline: number,
): Promise<boolean> {
  const author = authorIn({ by });
  return deps.store.groupRemoval.remove(groupId, deadline, async (kind, record) => [
    await happened(deps, author, resourceNoun(kind), record, { remove: kind }),
  ]);
}

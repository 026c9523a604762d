/**
 * Delayed deletion of groups, and of projects in groups, which can be cancelled until it is due. A request writes a
 * {@link DeletionMark} into the record and enqueues a message in the same transaction; cancelling writes null. The
 * message has a due date, so that the outbox sweep sends it then, in the order of time and with a limited rate. A message
 * whose mark was removed or replaced does nothing.
 */

import type { DeletionMark } from '../../records/deletion.ts';
import type { GroupRecord } from '../../records/groups.ts';
import type { MemberSource } from '../../records/members.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { Missing } from '../../store/errors.ts';
import { MAINTENANCE, messageAt, outboxWrite } from '../../store/outbox/outbox.ts';
import type { Write } from '../../store/table/write.ts';
import { authorIn, type Requester } from '../audit-events/event.ts';
import { auditedResourceEvent } from '../audit-events/setting-changes.ts';
import { dayIn, dayOf } from '../days.ts';
import type { Deps } from '../deps.ts';
import { deleterIn, toldOfDeletion } from './told.ts';

/** The maintenance job that deletes a project or group that is due. Its body names the resource and the due date. */
export const DELETION_JOB = 'deletion.due';

/** @returns the mark for a deletion requested now; undefined when it takes effect at once */
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

/** For the transaction that marks a project or group. */
export function scheduleDeletion(
  { kind, id }: MemberSource,
  { askedAt, dueOn }: DeletionMark,
  by: Requester,
): Write {
  // At the time of day of the request, so that not all deletions are due at midnight.
  const at = new Date(dueOn + askedAt.slice(10));
  return outboxWrite(messageAt(MAINTENANCE, DELETION_JOB, { kind, id, dueOn, by }, at));
}

/**
 * Deletes a project or group if it is still marked for that day. @param due.by who requested the deletion
 * @throws Stale when it changed concurrently: the job is to be retried
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

/** Deletes a project with immediate effect. @throws Stale, Missing */
export async function removeWhole(deps: Deps, project: ProjectRecord, by?: Requester): Promise<void> {
  const event = await auditedResourceEvent(deps, authorIn({ by }), 'Project', project, { remove: 'project' });
  const messages = await toldOfDeletion(deps, project, by);
  const options = { now: deps.now(), alongside: [event], messages, ...deleterIn(by) };
  await deps.store.projects.remove(project, options);
}

/** Deletes a group with its descendants, whose rows `emptyGroup` (`empty-group.ts`) deletes. @throws Stale, Missing */
export async function removeGroup(deps: Deps, group: GroupRecord, by?: Requester): Promise<void> {
  const event = await auditedResourceEvent(deps, authorIn({ by }), 'Group', group, { remove: 'group' });
  const messages = await toldOfDeletion(deps, group, by);
  await deps.store.groups.remove(group, {
    now: deps.now(),
    alongside: [event],
    messages,
    ...(by && { by: { ...by } }),
  });
}

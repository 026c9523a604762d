/**
 * Deletions of groups, and of projects in them, that come some days after somebody asked, and may be taken back until
 * then. Who asks writes a {@link DeletionMark} into the record and the promise beside it, in one transaction; who takes
 * it back writes null. The promise is a message dated ahead, so the sweep of the outbox finds what is due, in the order of
 * its time and so many a minute. A promise whose mark is gone, or is another, does nothing.
 */
import { Missing } from '../store/errors.ts';
import { MAINTENANCE, messageAt, outboxWrite } from '../store/outbox.ts';
import type { DeletionMark, MemberSource } from '../store/records.ts';
import type { Write } from '../store/write.ts';
import type { Deps } from './deps.ts';

/** The maintenance queue's job that deletes what is due: a project or group, and the day that its mark named. */
export const DELETION_JOB = 'deletion.due';

const DAY_MS = 86_400_000;

/** @returns what a deletion that is asked for now writes into the record; undefined: it is deleted at once */
export async function deletionMark(deps: Deps): Promise<DeletionMark | undefined> {
  const days = deps.environment.deletionDelayDays;
  if (days <= 0) return undefined;
  const now = deps.now();
  const due = new Date(now.getTime() + days * DAY_MS);
  return { askedAt: now.toISOString(), dueOn: dayOf(due) };
}

/** The day somebody asked, as answers tell it. */
export const markedOn = ({ askedAt }: DeletionMark): string => askedAt.slice(0, 10);

/** For the transaction that marks a project or group. */
export function promisesDeletion({ kind, id }: MemberSource, { askedAt, dueOn }: DeletionMark): Write {
  // Whole days, and not all at midnight.
  const at = new Date(dueOn + askedAt.slice(10));
  return outboxWrite(messageAt(MAINTENANCE, DELETION_JOB, { kind, id, dueOn }, at));
}

/** Deletes what is still marked for that day. @throws Stale when it changed meanwhile: to be tried again */
export async function deleteDue(deps: Deps, { kind, id }: MemberSource, dueOn: string): Promise<void> {
  const { projects, groups } = deps.store;
  const now = deps.now();
  const isDue = (mark: DeletionMark | null | undefined) => mark?.dueOn === dueOn && dueOn <= dayOf(now);
  try {
    if (kind === 'project') {
      const project = await projects.get(id);
      if (project !== undefined && isDue(project.deletion)) await projects.remove(project, { now });
    } else {
      const group = await groups.get(id);
      if (group !== undefined && isDue(group.deletion)) await groups.remove(group, { now });
    }
  } catch (error) {
    if (!(error instanceof Missing)) throw error;
  }
}

const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

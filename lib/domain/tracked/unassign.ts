/** A user who left a project or group is taken off what they are assigned to there, where that was asked for. */

import * as z from 'zod/mini';
import type { MemberSource } from '../../records/members.ts';
import type { TrackedAddress, TrackedRecord } from '../../records/tracked.ts';
import { Missing, Stale } from '../../store/errors.ts';
import { mapLimit } from '../../store/table/map-limit.ts';
import { NO_SURROUNDINGS, type Surroundings } from '../../store/tracked/kind.ts';
import type { AssignedPage } from '../../store/tracked/uses.ts';
import type { Deps } from '../deps.ts';
import { idField, sourceKindField, textField } from '../job-fields.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';

export interface Unassigning extends MemberSource {
  readonly userId: number;
  /** Where an earlier run stopped. */
  readonly after?: string | undefined;
}

export const unassigningFields = () =>
  z.object({ kind: sourceKindField(), id: idField(), userId: idField(), after: z.optional(textField()) });

/** The records of one kind. */
interface Assigned<R extends TrackedRecord> {
  readonly uses: { assigned(userId: number, limit: number, after?: string): Promise<AssignedPage> };
  readonly records: {
    get(address: TrackedAddress): Promise<R | undefined>;
    update(
      record: R,
      change: { readonly assigneeIds: readonly number[] },
      around: Surroundings,
    ): Promise<unknown>;
  };
}

/** Records looked at together, and changed at the same time. */
const PAGE = 100;
const CONCURRENCY = 4;

/**
 * Nothing is noted of it and nobody is told, and the time of the last change stays.
 * @param deadline milliseconds since 1970; no page begins after it
 * @returns where to go on; undefined at the end
 */
export async function unassign<R extends TrackedRecord>(
  { store }: Deps,
  { uses, records }: Assigned<R>,
  { after, ...unassigning }: Unassigning,
  deadline: number,
): Promise<Unassigning | undefined> {
  const { kind, id, userId } = unassigning;
  for (let from = after; ; ) {
    if (Date.now() > deadline) return { ...unassigning, after: from };
    const page = await uses.assigned(userId, PAGE, from);
    const ids = [...new Set(page.addresses.map(({ projectId }) => projectId))];
    const projects = ids.length === 0 ? [] : await store.projects.getMany(ids);
    const left = new Set(
      projects.flatMap((project) =>
        project !== undefined && (kind === 'project' ? project.id === id : project.ancestorIds.includes(id))
          ? [project.id]
          : [],
      ),
    );
    const those = page.addresses.filter(({ projectId }) => left.has(projectId));
    await mapLimit(CONCURRENCY, those, (address) => takeOff(records, address, userId));
    if (page.next === undefined) return undefined;
    from = page.next;
  }
}

async function takeOff<R extends TrackedRecord>(
  records: Assigned<R>['records'],
  address: TrackedAddress,
  userId: number,
): Promise<void> {
  const attempt = async () => {
    const record = await records.get(address);
    if (record?.assigneeIds.includes(userId) !== true) return;
    const assigneeIds = record.assigneeIds.filter((each) => each !== userId);
    await records.update(record, { assigneeIds }, NO_SURROUNDINGS);
  };
  await retryOnConflict(attempt, (error) => error instanceof Stale).catch((error: unknown) => {
    // The record or its project is deleted.
    if (!(error instanceof Missing)) throw error;
  });
}

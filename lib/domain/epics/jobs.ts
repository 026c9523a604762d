import * as z from 'zod/mini';
import type { GroupRecord } from '../../records/groups.ts';
import { SETTLE_EPICS_JOB } from '../../store/epics/settle.ts';
import { Missing, Stale } from '../../store/errors.ts';
import type { Deps } from '../deps.ts';
import { continuedWith, defineJob } from '../job.ts';
import { idField } from '../job-fields.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';
import { lineOf } from './related.ts';

export const jobs = [
  defineJob({
    name: SETTLE_EPICS_JOB,
    body: () => z.object({ groupId: idField(), after: z.optional(z.number()) }),
    run: async (deps, body, { deadline }) => continuedWith(await settle(deps, body, deadline)),
  }),
];

interface Settling {
  readonly groupId: number;
  /** Number of the last epic that an earlier run has done. */
  readonly after?: number | undefined;
}

/** Epics changed one after the other before the deadline is looked at. */
const PAGE = 50;

/**
 * Puts the epics of a moved group into the lists of its top-level group, and takes them away from below epics of groups
 * that it left.
 * @returns where to go on; undefined at the end
 */
async function settle(
  deps: Deps,
  { groupId, after = 0 }: Settling,
  deadline: number,
): Promise<Settling | undefined> {
  const group = await deps.store.groups.get(groupId);
  if (group === undefined || group.deletedAt !== null) return undefined;
  for (let from = after; ; ) {
    if (Date.now() > deadline) return { groupId, after: from };
    const page = await deps.store.epics.idsOfGroup({ kind: 'group', id: groupId }, from, PAGE);
    for (const { id } of page) await settleEpic(deps, id, group);
    if (page.length === 0) return undefined;
    from = page.at(-1)!.iid;
  }
}

/** The time of its last change stays. */
async function settleEpic({ store }: Deps, id: number, group: GroupRecord): Promise<void> {
  const line = lineOf(group);
  const [rootId] = line as [number];
  const attempt = async () => {
    const epic = await store.epics.get(id);
    if (epic === undefined) return;
    const parent = epic.parentId === null ? undefined : await store.epics.get(epic.parentId);
    const leaves = parent !== undefined && !line.includes(parent.container.id);
    if (epic.rootId === rootId && !leaves) return;
    const change = { rootId, ...(leaves ? { parentId: null } : {}) };
    await store.epics.change(epic, change, [], new Date(epic.updatedAt));
  };
  await retryOnConflict(attempt, (error) => error instanceof Stale).catch((error: unknown) => {
    // The group is deleted.
    if (!(error instanceof Missing)) throw error;
  });
}

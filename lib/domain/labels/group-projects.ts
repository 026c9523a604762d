import type { Deps } from '../deps.ts';

/** Projects looked at together. */
const BATCH = 20;

/**
 * Runs `work` on the projects that are directly in a group, newest first, some at a time.
 * @param from id of a project: newer ones were done by an earlier run
 * @returns id of the project that the next run begins with; undefined at the end
 */
export async function eachProjectOf(
  { store }: Deps,
  groupId: number,
  from: number | undefined,
  deadline: number,
  work: (projectIds: readonly number[]) => Promise<void>,
): Promise<number | undefined> {
  let batch: number[] = [];
  for await (const id of store.groups.rowsBelow(groupId, 'DIRECT', 'project')) {
    if (id > (from ?? id)) continue;
    if (Date.now() > deadline) {
      await work(batch);
      return id;
    }
    if (batch.push(id) < BATCH) continue;
    await work(batch);
    batch = [];
  }
  await work(batch);
  return undefined;
}

/** Takes away what belonged to a user who is gone: tokens, memberships and personal projects. */
import { Missing, Stale } from './errors.ts';
import { idOf, tokenIdKey, userPartition } from './keys.ts';
import type { Projects } from './projects.ts';
import type { Table } from './table.ts';
import type { Users } from './users.ts';
import type { Item } from './write.ts';

interface Store {
  readonly table: Table;
  readonly users: Users;
  readonly projects: Projects;
}

/**
 * May be called any number of times. Rows are found through an index, which may be late: call it again later.
 *
 * @param deadline milliseconds since 1970; no new step begins after it
 * @returns whether nothing that the index knows is left
 * @throws Error when the user is there; then nothing was touched
 */
export async function removeBelongings(store: Store, userId: number, deadline: number): Promise<boolean> {
  if ((await store.users.get(userId)) !== undefined) throw new Error(`user ${userId} is not removed`);
  for await (const row of store.table.queryAll({ index: 'byUser', partition: userPartition(userId) })) {
    if (Date.now() > deadline) return false;
    await removeOne(store, row);
  }
  return true;
}

async function removeOne({ table, projects }: Store, row: Item): Promise<void> {
  const { pk, sk, what } = row as { pk: string; sk: string; what: string };
  if (what.startsWith('TOKEN#')) {
    // Together: an id that leads nowhere, or a token without an id, could not be revoked.
    await table.transact([{ delete: { pk, sk } }, { delete: tokenIdKey(idOf(what)) }]);
  } else if (what.startsWith('MEMBER#') || what.startsWith('GROUPMEMBER#')) {
    await table.delete({ delete: { pk, sk } });
  } else if (what.startsWith('OWN#')) {
    const project = await projects.get(idOf(what));
    await (project && projects.remove(project))?.catch((error: unknown) => {
      // Somebody else removed it. One that moved is found again by the next call.
      if (!(error instanceof Missing || error instanceof Stale)) throw error;
    });
  }
}

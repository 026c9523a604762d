import type { Remover } from '../deletion/remover.ts';
import { Missing, Stale } from '../errors.ts';
import { groupKey } from '../row-keys/groups.ts';
import type { Groups } from './groups.ts';

interface Stores {
  readonly groups: Groups;
}

export const remover: Remover<Stores> = {
  ofGroup: {
    rows: ['group', 'path', 'group-name'],
    /** Ends the shares of other groups with this one. */
    async run({ groups }, { id }, deadline) {
      for await (const sharing of groups.rowsBelow(id, 'SHARED', 'group')) {
        if (Date.now() > deadline) return false;
        await endShare(groups, sharing, id);
      }
      return true;
    },
    last: ({ id }) => [{ delete: groupKey(id) }],
  },
};

async function endShare(groups: Groups, sharing: number, invited: number): Promise<void> {
  const group = await groups.get(sharing);
  if (group === undefined) return;
  const shares = group.shares.filter(({ groupId }) => groupId !== invited);
  if (shares.length === group.shares.length) return;
  try {
    await groups.update(group, { shares });
  } catch (error) {
    // A share with a group that does not exist gives nobody anything.
    if (!(error instanceof Missing || error instanceof Stale)) throw error;
  }
}

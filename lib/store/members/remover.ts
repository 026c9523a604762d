import type { Remover, UserRow } from '../deletion/remover.ts';
import { ignoreRefusal } from '../errors.ts';
import type { Groups } from '../groups/groups.ts';
import type { GroupOwners } from '../groups/owners.ts';
import { groupKey } from '../row-keys/groups.ts';
import { idOf, type Key } from '../row-keys/key.ts';
import { projectKey } from '../row-keys/projects.ts';
import { deleteRow, untilNoneLeft } from '../table/delete-page.ts';
import type { Table } from '../table/table.ts';
import { PRESENT } from '../table/write.ts';
import type { Members } from './members.ts';

interface Stores {
  readonly table: Table;
  readonly members: Members;
  readonly groups: Groups;
  readonly groupOwners: GroupOwners;
}

export const remover: Remover<Stores> = {
  ofProject: {
    rows: ['membership'],
    run: ({ members }, { id }, deadline) =>
      untilNoneLeft(() => members.removeAll({ kind: 'project', id }), deadline),
  },
  ofGroup: {
    rows: ['membership'],
    run: ({ members }, { id }, deadline) =>
      untilNoneLeft(() => members.removeAll({ kind: 'group', id }), deadline),
  },
  ofUserRows: {
    rows: ['membership'],
    byRow: {
      MEMBER: async (stores, row, { userId, ghost }) => {
        await giveCreated(stores, projectKey(idOf(row.what)), userId, ghost.id);
        await deleteRow(stores, row);
      },
      GROUPMEMBER: async (stores, row, { userId, hard, ghost, deleteOwned }) => {
        const group = hard ? await groupOf(stores, row) : undefined;
        if (group !== undefined && (await stores.groupOwners.isSole(group, userId)))
          await deleteOwned.group(group);
        await giveCreated(stores, groupKey(idOf(row.what)), userId, ghost.id);
        await deleteRow(stores, row);
      },
    },
  },
};

const groupOf = ({ groups }: Stores, { what }: UserRow) => groups.get(idOf(what));

/** Names the ghost as the creator of what the user created. */
const giveCreated = ({ table }: Stores, key: Key, userId: number, ghostId: number) =>
  table
    .update({
      update: key,
      set: { creatorId: ghostId },
      if: `${PRESENT} AND #creatorId = :was`,
      values: { was: userId },
    })
    .catch(ignoreRefusal);

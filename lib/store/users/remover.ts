import type { Remover } from '../deletion/remover.ts';
import type { Key } from '../row-keys/key.ts';
import { indexedKey } from '../row-keys/search.ts';
import { userKey } from '../row-keys/users.ts';
import { deleteRow, untilNoneLeft } from '../table/delete-page.ts';
import type { Table } from '../table/table.ts';
import type { Follows } from './follows.ts';

interface Stores {
  readonly table: Table;
  readonly follows: Follows;
}

export const remover: Remover<Stores> = {
  ofUser: {
    rows: [
      'follow',
      'token-count',
      'notification-choice-everywhere',
      'avatar',
      'custom-attributes',
      'custom-attribute',
      'owned-count',
    ],
    rowsWithRecord: ['user', 'path', 'email', 'identity'],
    run: async (stores, { userId }, deadline) =>
      (await untilNoneLeft(() => stores.follows.removeOfUser(userId), deadline)) &&
      removePartition(stores, userId, deadline),
  },
};

/** Deletes all remaining rows of the user's partition except the one that lists search rows: it goes with those. */
async function removePartition(stores: Stores, userId: number, deadline: number): Promise<boolean> {
  const search = indexedKey('user', userId).sk;
  const rows = stores.table.queryAll({ partition: userKey(userId).pk, only: ['pk', 'sk'] });
  for await (const row of rows) {
    if (Date.now() > deadline) return false;
    const key = row as unknown as Key;
    if (key.sk !== search) await deleteRow(stores, key);
  }
  return true;
}

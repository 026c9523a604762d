import type { Remover } from '../deletion/remover.ts';
import { userAddressesKey } from '../row-keys/rate-limits.ts';
import type { Table } from '../table/table.ts';

export const remover: Remover<{ readonly table: Table }> = {
  ofUser: {
    rows: ['user-addresses'],
    async run({ table }, { userId }) {
      await table.delete({ delete: userAddressesKey(userId) });
      return true;
    },
  },
};

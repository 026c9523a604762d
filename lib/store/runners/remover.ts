import type { Remover } from '../deletion/remover.ts';
import { runnersTokenKey } from '../row-keys/runners.ts';

export const remover: Remover<unknown> = {
  ofGroup: { rows: ['runners-token'], last: ({ id }) => [{ delete: runnersTokenKey(id) }] },
};

import type { Key } from './key.ts';
import type { RowKind } from './row-kind.ts';

/** Maps the digest of a link's token to the address it confirms. */
export const confirmationKey = (hash: string): Key => ({ pk: `CONFIRM#${hash}`, sk: 'CONFIRM' });

export const rowKinds = [
  {
    name: 'email-confirmation',
    partitions: ['CONFIRM#'],
    keys: { confirmationKey },
    of: ['user'],
    expires: true,
  },
] as const satisfies readonly RowKind[];

import type { Key } from './key.ts';

/** Maps the digest of a link's token to the address it confirms. */
export const confirmationKey = (hash: string): Key => ({ pk: `CONFIRM#${hash}`, sk: 'CONFIRM' });

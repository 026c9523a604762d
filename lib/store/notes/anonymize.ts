import type { AuthorSnapshot } from '../../records/authors.ts';
import { ignoreRefusal } from '../errors.ts';
import type { Key } from '../row-keys/key.ts';
import type { Table } from '../table/table.ts';
import { PRESENT } from '../table/write.ts';

/** Makes the ghost the author of a deleted user's row. The index then lists the row under neither of the two. */
export const anonymize = (table: Table, { pk, sk }: Key, ghost: AuthorSnapshot): Promise<unknown> =>
  table
    .update({ update: { pk, sk }, set: { author: ghost }, remove: ['who', 'what'], if: PRESENT })
    .catch(ignoreRefusal);

import type { Key } from './key.ts';
import type { RowKind } from './row-kind.ts';

/** Where the page ended that a caller read last of a list. @param list a digest of both */
export const pageEndKey = (list: string): Key => ({ pk: `PAGES#${list}`, sk: 'END' });

export const rowKinds = [
  { name: 'page-end', partitions: ['PAGES#'], keys: { pageEndKey }, of: ['user'], expires: true },
] as const satisfies readonly RowKind[];

import type { Key } from './key.ts';
import type { RowKind } from './row-kind.ts';

/** @param row the group of settings of the instance */
export const settingsKey = (row: 'effective' | 'kept'): Key => ({ pk: 'SETTINGS#', sk: row.toUpperCase() });

export const rowKinds = [
  { name: 'settings', partitions: ['SETTINGS#'], keys: { settingsKey }, of: ['instance'] },
] as const satisfies readonly RowKind[];

import type { Key } from './key.ts';

/** @param row the group of settings of the instance */
export const settingsKey = (row: 'effective' | 'kept'): Key => ({ pk: 'SETTINGS#', sk: row.toUpperCase() });

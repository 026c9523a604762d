import type { Key } from './key.ts';

/** `row`: which of the instance's settings. */
export const settingsKey = (row: 'effective' | 'kept'): Key => ({ pk: 'SETTINGS#', sk: row.toUpperCase() });

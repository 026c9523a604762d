import { expect, it } from 'vitest';
import { detectRenames } from '../../../lib/git/diff/renames.ts';
import type { TreeChange } from '../../../lib/git/diff/tree-diff.ts';
import type { ObjectStore, SyncObjects } from '../../../lib/git/objects.ts';
import type { Oid } from '../../../lib/git/oid.ts';
import type { RawPath } from '../../../lib/git/tree/path.ts';
import { stopsOf } from './stops.ts';

const MANY = 1000;
const entry = (n: number) => ({ mode: 0o100644, oid: n.toString(16).padStart(40, '0') as Oid });
const changes = (prefix: string, side: 'old' | 'new', count: number): TreeChange[] =>
  Array.from({ length: count }, (_, n) => ({
    path: `${prefix}${n}` as RawPath,
    [side]: entry(n + (side === 'old' ? 0 : MANY)),
  }));

/** Every object is a line with its id. */
const store = {
  run: async <T>(work: (objects: SyncObjects) => T) => {
    const read = (oid: Oid) => ({ type: 'blob' as const, data: Buffer.from(`${oid}\n`) });
    return work({
      read,
      header: (oid: Oid) => ({ type: 'blob', size: 41 }),
    } as Partial<SyncObjects> as SyncObjects);
  },
} as Partial<ObjectStore> as ObjectStore;

it('a list of added files stops for others at every file', async () => {
  const stops = await stopsOf(() => detectRenames(store, changes('a', 'new', MANY)));
  expect(stops).toBeGreaterThanOrEqual(2 * MANY);
});

it('a search for one file among many stops for others at each of them', async () => {
  const all = [...changes('a', 'old', MANY), ...changes('z', 'new', 1)];
  const stops = await stopsOf(() => detectRenames(store, all));
  expect(stops).toBeGreaterThanOrEqual(4 * MANY);
});

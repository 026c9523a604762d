import { type Key, padded } from './key.ts';
import type { RowKind } from './row-kind.ts';

export const projectKey = (id: number): Key => ({ pk: `PROJECT#${padded(id)}`, sk: 'PROJECT' });

export const rowKinds = [
  { name: 'project', partitions: ['PROJECT#'], keys: { projectKey }, of: ['project', 'user'] },
] as const satisfies readonly RowKind[];

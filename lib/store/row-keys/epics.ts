import type { EpicClass } from '../../records/epics.ts';
import type { Container } from '../../records/labels.ts';
import { type Key, padded } from './key.ts';
import type { RowKind } from './row-kind.ts';

/** An epic by its id: issues know no more of it. */
export const epicKey = (id: number): Key => ({ pk: `EPIC#${padded(id)}`, sk: 'EPIC' });

/** The epics of a group. */
export const epicsPartition = ({ id }: Container): string => `EPICS#GROUP#${padded(id)}`;

/** The epic with a number in its group. */
export const epicIidKey = (container: Container, iid: number): Key => ({
  pk: epicsPartition(container),
  sk: `IID#${padded(iid)}`,
});

/** The last number given, and how many epics there are. */
export const epicCountKey = (container: Container): Key => ({ pk: epicsPartition(container), sk: 'COUNT' });

/** Partition of `list`: the epics below a top-level group. */
export const epicsOfRoot = (rootId: number, listClass: EpicClass): string =>
  `EPICS#ROOT#${padded(rootId)}#${listClass}`;

export const rowKinds = [
  { name: 'epic', partitions: ['EPIC#'], keys: { epicKey }, of: ['group', 'user'] },
  { name: 'epic-of-group', partitions: ['EPICS#'], keys: { epicIidKey }, of: ['group'] },
  { name: 'epic-count', partitions: ['EPICS#'], keys: { epicCountKey }, of: ['group'] },
] as const satisfies readonly RowKind[];

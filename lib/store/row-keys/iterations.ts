import type { Container } from '../../records/labels.ts';
import { type Key, padded, wholeOrDigest } from './key.ts';
import type { RowKind } from './row-kind.ts';

/** An iteration by its id: issues know no more of it. */
export const iterationKey = (id: number): Key => ({ pk: `ITERATION#${padded(id)}`, sk: 'ITERATION' });

/** The iterations of a group. */
export const iterationsPartition = ({ id }: Container): string => `ITERATIONS#GROUP#${padded(id)}`;

/** Before the first day, in the list of a group. */
export const ITERATION_LIST = 'LIST#';

/** The list: the earliest first. Iterations of a group have no day in common. */
export const iterationListKey = (
  container: Container,
  { startDate, id }: { readonly startDate: string; readonly id: number },
): Key => ({ pk: iterationsPartition(container), sk: `${ITERATION_LIST}${startDate}#${padded(id)}` });

/** After all iterations that begin on the day or earlier. */
export const iterationsBeginningBy = (day: string): string => `${ITERATION_LIST}${day}#~`;

/** Makes a title unique in its group. */
export const iterationTitleKey = (container: Container, title: string): Key => ({
  pk: iterationsPartition(container),
  sk: `TITLE#${wholeOrDigest(title)}`,
});

/** The iteration with a number in its group. */
export const iterationIidKey = (container: Container, iid: number): Key => ({
  pk: iterationsPartition(container),
  sk: `IID#${padded(iid)}`,
});

/** The last number given, and how many iterations there are. */
export const iterationCountKey = (container: Container): Key => ({
  pk: iterationsPartition(container),
  sk: 'COUNT',
});

/** How often the days of the group's iterations have changed. */
export const iterationScheduleKey = (container: Container): Key => ({
  pk: iterationsPartition(container),
  sk: 'SCHEDULE',
});

const of = ['group'] as const;

export const rowKinds = [
  { name: 'iteration', partitions: ['ITERATION#'], keys: { iterationKey }, of },
  {
    name: 'iteration-of-group',
    partitions: ['ITERATIONS#'],
    keys: { iterationListKey, iterationTitleKey, iterationIidKey },
    of,
  },
  { name: 'iteration-count', partitions: ['ITERATIONS#'], keys: { iterationCountKey }, of },
  { name: 'iteration-schedule', partitions: ['ITERATIONS#'], keys: { iterationScheduleKey }, of },
] as const satisfies readonly RowKind[];

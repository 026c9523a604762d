import type { Container } from '../../records/labels.ts';
import type { MilestoneState } from '../../records/milestones.ts';
import { type Key, MAX_ID, padded, wholeOrDigest } from './key.ts';
import type { RowKind } from './row-kind.ts';

/** A milestone by its id: what is planned for it knows no more of it. */
export const milestoneKey = (id: number): Key => ({ pk: `MILESTONE#${padded(id)}`, sk: 'MILESTONE' });

/** The milestones of a project or group. */
export const milestonesPartition = ({ kind, id }: Container): string =>
  `MILESTONES#${kind === 'project' ? 'PROJECT' : 'GROUP'}#${padded(id)}`;

export const milestoneListPrefix = (state: MilestoneState): string => `LIST#${state}#`;

/** The list of a state: the earliest due date first, those without one at the end, then the newest first. */
export const milestoneListKey = (
  container: Container,
  {
    state,
    dueDate,
    id,
  }: { readonly state: MilestoneState; readonly dueDate: string | null; readonly id: number },
): Key => ({
  pk: milestonesPartition(container),
  sk: `${milestoneListPrefix(state)}${dueDate ?? '~'}#${padded(MAX_ID - id)}`,
});

/** Makes a title unique in its project or group. */
export const milestoneTitleKey = (container: Container, title: string): Key => ({
  pk: milestonesPartition(container),
  sk: `TITLE#${wholeOrDigest(title)}`,
});

/** The milestone with a number in its project or group. */
export const milestoneIidKey = (container: Container, iid: number): Key => ({
  pk: milestonesPartition(container),
  sk: `IID#${padded(iid)}`,
});

/** The last number given, and how many milestones there are in each state. */
export const milestoneCountKey = (container: Container): Key => ({
  pk: milestonesPartition(container),
  sk: 'COUNT',
});

const of = ['project', 'group'] as const;

export const rowKinds = [
  { name: 'milestone', partitions: ['MILESTONE#'], keys: { milestoneKey }, of },
  {
    name: 'milestone-of-container',
    partitions: ['MILESTONES#'],
    keys: { milestoneListKey, milestoneTitleKey, milestoneIidKey },
    of,
  },
  { name: 'milestone-count', partitions: ['MILESTONES#'], keys: { milestoneCountKey }, of },
] as const satisfies readonly RowKind[];

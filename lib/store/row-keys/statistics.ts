import type { MemberSource } from '../../records/members.ts';
import type { SortedSize } from '../../records/storage-sizes.ts';
import { type Key, padded } from './key.ts';
import { memberPartition } from './members.ts';
import type { RowKind } from './row-kind.ts';

/** Statistics of a project, or the sums of a group's own projects. */
export const statisticsKey = (of: MemberSource): Key => ({ pk: memberPartition(of), sk: 'STATISTICS' });

/** A size of a project that is not 0: by it projects are sorted. */
export const projectSizeKey = (projectId: number, size: SortedSize): Key => ({
  pk: memberPartition({ kind: 'project', id: projectId }),
  sk: `SIZE#${size}`,
});

/** Class of `list`: the projects that have a size. */
export const projectSizeClass = (size: SortedSize): string => `PROJECTSIZE#${size}`;

/** Fetches of a project on one day, `YYYY-MM-DD`. */
export const fetchesKey = (projectId: number, date: string): Key => ({
  pk: `FETCHES#${padded(projectId)}`,
  sk: date,
});

export const rowKinds = [
  {
    name: 'statistics',
    partitions: ['PROJECT#', 'GROUP#'],
    keys: { statisticsKey },
    of: ['project', 'group'],
  },
  { name: 'project-size', partitions: ['PROJECT#'], keys: { projectSizeKey }, of: ['project'] },
  { name: 'fetches', partitions: ['FETCHES#'], keys: { fetchesKey }, of: ['project'], expires: true },
] as const satisfies readonly RowKind[];

import { type Key, padded } from './key.ts';
import type { RowKind } from './row-kind.ts';

export const schedulesPartition = (projectId: number): string => `PIPELINE_SCHEDULES#${padded(projectId)}`;

export const SCHEDULE = 'ID#';

export const scheduleKey = (projectId: number, id: number): Key => ({
  pk: schedulesPartition(projectId),
  sk: `${SCHEDULE}${padded(id)}`,
});

/** How many there are. */
export const scheduleCountKey = (projectId: number): Key => ({
  pk: schedulesPartition(projectId),
  sk: 'COUNT',
});

const [partitions, of] = [['PIPELINE_SCHEDULES#'], ['project']] as const;

export const rowKinds = [
  { name: 'pipeline-schedule', partitions, keys: { scheduleKey }, of },
  { name: 'pipeline-schedule-count', partitions, keys: { scheduleCountKey }, of },
] as const satisfies readonly RowKind[];

import { type Key, padded } from './key.ts';
import type { RowKind } from './row-kind.ts';

export const artifactsPartition = (projectId: number): string => `ARTIFACTS#${padded(projectId)}`;

/** Jobs of a pipeline end at once: each adds to a stripe picked at random. */
export const ARTIFACTS_TOTAL_STRIPES = 8;

/** The bytes of what the jobs of a project have left; their sum counts. */
export const artifactsTotalKey = (projectId: number, stripe: number): Key => ({
  pk: artifactsPartition(projectId),
  sk: `TOTAL#${stripe}`,
});

export const rowKinds = [
  { name: 'artifacts-total', partitions: ['ARTIFACTS#'], keys: { artifactsTotalKey }, of: ['project'] },
] as const satisfies readonly RowKind[];

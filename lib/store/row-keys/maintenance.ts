import type { Key } from './key.ts';
import { repositoryPartition } from './repository.ts';
import type { RowKind } from './row-kind.ts';

export const leaseKey = (repositoryId: string): Key => ({
  pk: repositoryPartition(repositoryId),
  sk: 'LEASE',
});

export const rowKinds = [
  { name: 'lease', partitions: ['REPO#'], keys: { leaseKey }, of: ['repository'] },
] as const satisfies readonly RowKind[];

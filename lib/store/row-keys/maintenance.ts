import type { Key } from './key.ts';
import { repositoryPartition } from './repository.ts';

export const leaseKey = (repositoryId: string): Key => ({
  pk: repositoryPartition(repositoryId),
  sk: 'LEASE',
});

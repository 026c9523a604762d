import { type Key, padded } from './key.ts';
import { MEMBER } from './members.ts';
import { projectKey } from './projects.ts';
import type { RowKind } from './row-kind.ts';

/** A fork of the project. */
export const FORK = 'FORK#';

export const forkKey = (projectId: number, forkId: number): Key => ({
  pk: projectKey(projectId).pk,
  sk: `${FORK}${padded(forkId)}`,
});

// Fork networks: repositories whose packs have a common prefix and may be listed by several of them.

export const networkPartition = (networkId: string): string => `NETWORK#${networkId}`;

export const networkMemberKey = (networkId: string, repositoryId: string): Key => ({
  pk: networkPartition(networkId),
  sk: `${MEMBER}${repositoryId}`,
});

/** Repositories that list a pack, besides the one that wrote it. */
export const heirsPartition = (packId: string): string => `HEIRS#${packId}`;

export const heirKey = (packId: string, repositoryId: string): Key => ({
  pk: heirsPartition(packId),
  sk: repositoryId,
});

export const rowKinds = [
  { name: 'fork', partitions: ['PROJECT#'], keys: { forkKey }, of: ['project'] },
  { name: 'network-member', partitions: ['NETWORK#'], keys: { networkMemberKey }, of: ['repository'] },
  { name: 'pack-heir', partitions: ['HEIRS#'], keys: { heirKey }, of: ['repository'] },
] as const satisfies readonly RowKind[];

import { digestOf, type Key, padded } from './key.ts';
import type { RowKind } from './row-kind.ts';

/** Objects and locks of Git LFS of a project. */
export const lfsPartition = (projectId: number): string => `LFS#${padded(projectId)}`;

export const LFS_OBJECT = 'OBJECT#';

/** @param oid SHA-256, hexadecimal */
export const lfsObjectKey = (projectId: number, oid: string): Key => ({
  pk: lfsPartition(projectId),
  sk: `${LFS_OBJECT}${oid}`,
});

export const LFS_TOTAL = 'TOTAL#';
/** Uploads of one push end at once: each adds to a stripe picked at random. */
export const LFS_TOTAL_STRIPES = 16;

export const lfsTotalKey = (projectId: number, stripe: number): Key => ({
  pk: lfsPartition(projectId),
  sk: `${LFS_TOTAL}${stripe}`,
});

/** Projects that have an object which was uploaded to another one. */
export const lfsHeirsPartition = (location: string): string => `LFSHEIRS#${location}`;

export const lfsHeirKey = (location: string, projectId: number): Key => ({
  pk: lfsHeirsPartition(location),
  sk: padded(projectId),
});

export const LFS_LOCK = 'LOCK#';

/** What ids of locks begin with. */
export const lockedPath = (path: string): string => digestOf(path).slice(0, 32);

/** @param locked as {@link lockedPath} returns it */
export const lfsLockKey = (projectId: number, locked: string): Key => ({
  pk: lfsPartition(projectId),
  sk: `${LFS_LOCK}${locked}`,
});

export const rowKinds = [
  { name: 'lfs-object', partitions: ['LFS#'], keys: { lfsObjectKey }, of: ['project'] },
  { name: 'lfs-total', partitions: ['LFS#'], keys: { lfsTotalKey }, of: ['project'] },
  { name: 'lfs-heir', partitions: ['LFSHEIRS#'], keys: { lfsHeirKey }, of: ['project'] },
  { name: 'lfs-lock', partitions: ['LFS#'], keys: { lfsLockKey }, of: ['project', 'user'] },
] as const satisfies readonly RowKind[];

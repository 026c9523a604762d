import { cut, idOf, type Key, padded, REF_WHOLE, wholeOrDigest } from './key.ts';
import type { RowKind } from './row-kind.ts';

// One partition per repository.

export const GUARD_STRIPES = 8;

export const repositoryPartition = (repositoryId: string): string => `REPO#${repositoryId}`;

export const guardKey = (repositoryId: string, stripe: number): Key => ({
  pk: repositoryPartition(repositoryId),
  sk: `GUARD#${stripe}`,
});

export const headKey = (repositoryId: string): Key => ({ pk: repositoryPartition(repositoryId), sk: 'HEAD' });

/** Pinned commits, which are kept even if no ref reaches them. Not among the refs, so that they do not slow listings down. */
export const PINNED = 'KEEP#';

export const pinnedCommitKey = (repositoryId: string, oid: string): Key => ({
  pk: repositoryPartition(repositoryId),
  sk: `${PINNED}${oid}`,
});

/** A commit that a version of a merge request is of: kept as long as that is, whatever else keeps it. */
export const versionPinKey = (repositoryId: string, oid: string, iid: number): Key => ({
  pk: repositoryPartition(repositoryId),
  sk: `${PINNED}${oid}#MR#${padded(iid)}`,
});

/** Old targets of deleted or force-updated refs, by the ULID of the write. */
export const RECENT_TIP = 'LEFT#';

export const recentTipKey = (repositoryId: string, by: string): Key => ({
  pk: repositoryPartition(repositoryId),
  sk: `${RECENT_TIP}${by}`,
});

export const PACK = 'PACK#';

export const packKey = (repositoryId: string, packId: string): Key => ({
  pk: repositoryPartition(repositoryId),
  sk: `${PACK}${packId}`,
});

/** A derived file. With the prefix `PACK` one query reads these rows and those of the packs. */
export const PACK_ROWS = 'PACK';

export const DERIVED = 'PACKFILE#';

export const derivedKey = (repositoryId: string, kind: string): Key => ({
  pk: repositoryPartition(repositoryId),
  sk: `${DERIVED}${kind}`,
});

/** Superseded packs, by time: not in the range of the active ones. */
export const OLD_PACK = 'OLDPACK#';

/** @param at ISO 8601 */
export const oldPackKey = (repositoryId: string, at: string, packId: string): Key => ({
  pk: repositoryPartition(repositoryId),
  sk: `${OLD_PACK}${at}#${packId}`,
});

export const REF = 'REF#';

export const refKey = (repositoryId: string, name: string): Key => ({
  pk: repositoryPartition(repositoryId),
  sk: refSort(name),
});

/** Sorts after every `REF#` row, so that one query reads the refs and then this. */
export const refNamesKey = (repositoryId: string): Key => ({
  pk: repositoryPartition(repositoryId),
  sk: 'REFNAMES',
});

/** Sort keys are limited to 1,024 bytes, as ref names are: long names are cut and distinguished by their digest. */
export const refSort = (name: string): string => REF + wholeOrDigest(name);

/** The longest part of a ref prefix that {@link refSort} keeps for names of any length. */
export const refPrefixSort = (prefix: string): string => REF + cut(prefix, REF_WHOLE - 66);

/** A ref table of this repository, current or not, so that a worker can find and remove it. */
export const REF_TABLES = 'REFTABLES#';

export const refTableKey = (repositoryId: string, tableId: string): Key => ({
  pk: repositoryPartition(repositoryId),
  sk: `${REF_TABLES}${tableId}`,
});

/** Chunks of an immutable ref table, each under its first name. */
export const refTablePartition = (repositoryId: string, tableId: string): string =>
  `REFTABLE#${repositoryId}#${tableId}`;

export const refChunkKey = (repositoryId: string, tableId: string, firstName: string): Key => ({
  pk: refTablePartition(repositoryId, tableId),
  sk: refSort(firstName),
});

/** Points to the chunk that begins with the n-th branch or tag, counted from 0. */
export const refRankPrefix = (space: 'heads' | 'tags'): string => `RANK#${space}#`;

export const refRankKey = (
  repositoryId: string,
  tableId: string,
  space: 'heads' | 'tags',
  rank: number,
): Key => ({
  pk: refTablePartition(repositoryId, tableId),
  sk: refRankPrefix(space) + padded(rank),
});

export const rankOf = (sort: string): number => idOf(sort);

export const rowKinds = [
  { name: 'guard', partitions: ['REPO#'], keys: { guardKey }, of: ['repository'] },
  { name: 'head', partitions: ['REPO#'], keys: { headKey }, of: ['repository'] },
  {
    name: 'pinned-commit',
    partitions: ['REPO#'],
    keys: { pinnedCommitKey, versionPinKey },
    of: ['repository'],
  },
  { name: 'recent-tip', partitions: ['REPO#'], keys: { recentTipKey }, of: ['repository'], expires: true },
  { name: 'pack', partitions: ['REPO#'], keys: { packKey }, of: ['repository'] },
  { name: 'derived-file', partitions: ['REPO#'], keys: { derivedKey }, of: ['repository'] },
  { name: 'superseded-pack', partitions: ['REPO#'], keys: { oldPackKey }, of: ['repository'] },
  { name: 'ref', partitions: ['REPO#'], keys: { refKey }, of: ['repository'] },
  { name: 'ref-names', partitions: ['REPO#'], keys: { refNamesKey }, of: ['repository'] },
  { name: 'ref-table', partitions: ['REPO#'], keys: { refTableKey }, of: ['repository'] },
  { name: 'ref-table-chunk', partitions: ['REFTABLE#'], keys: { refChunkKey }, of: ['repository'] },
  { name: 'ref-table-rank', partitions: ['REFTABLE#'], keys: { refRankKey }, of: ['repository'] },
] as const satisfies readonly RowKind[];

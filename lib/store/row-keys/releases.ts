import { type Key, padded, wholeOrDigest } from './key.ts';
import type { RowKind } from './row-kind.ts';

export const releasesPartition = (projectId: number): string => `RELEASES#${padded(projectId)}`;

export const RELEASE_PREFIX = 'TAG#';

/** A release by its tag. */
export const releaseKey = (projectId: number, tag: string): Key => ({
  pk: releasesPartition(projectId),
  sk: `${RELEASE_PREFIX}${wholeOrDigest(tag)}`,
});

/** The orders of the list. */
export type ReleaseOrder = 'released' | 'created';

export const releaseListPrefix = (order: ReleaseOrder): string => `${order.toUpperCase()}#`;

/** The place of a release in an order. */
export const releaseListKey = (projectId: number, order: ReleaseOrder, at: string, id: number): Key => ({
  pk: releasesPartition(projectId),
  sk: `${releaseListPrefix(order)}${at}#${padded(id)}`,
});

/** The document of an evidence of a release. */
export const releaseEvidenceKey = (projectId: number, releaseId: number, id: number): Key => ({
  pk: releasesPartition(projectId),
  sk: `EVIDENCE#${padded(releaseId)}#${padded(id)}`,
});

/** How many releases there are. */
export const releaseCountKey = (projectId: number): Key => ({
  pk: releasesPartition(projectId),
  sk: 'COUNT',
});

const of = ['project'] as const;

export const rowKinds = [
  { name: 'release', partitions: ['RELEASES#'], keys: { releaseKey }, of },
  { name: 'release-in-list', partitions: ['RELEASES#'], keys: { releaseListKey }, of },
  { name: 'release-evidence', partitions: ['RELEASES#'], keys: { releaseEvidenceKey }, of },
  { name: 'release-count', partitions: ['RELEASES#'], keys: { releaseCountKey }, of },
] as const satisfies readonly RowKind[];

import type { MergeRequestState } from '../../records/merge-requests.ts';
import { digestOf, type Key, padded } from './key.ts';
import type { RowKind } from './row-kind.ts';
import { trackedKeys } from './tracked.ts';

/** What merge requests are found by: people by user id, branches by name, long ones by 0, the rest by its own id. */
export type MergeRequestFacet =
  | 'author'
  | 'assignee'
  | 'reviewer'
  | 'approver'
  | 'label'
  | 'milestone'
  | 'source'
  | 'target'
  | 'long';

/** Merge requests of the project of their target branch, in rows as issues have them. */
export const mergeRequestKeys = trackedKeys<MergeRequestFacet, MergeRequestState>({
  plural: 'MRS',
  one: 'MR',
});

/** A version of what a merge request proposes. */
export const diffVersionPrefix = (iid: number): string => `VERSION#${padded(iid)}#`;

export const diffVersionKey = (projectId: number, iid: number, number: number): Key => ({
  pk: mergeRequestKeys.partition(projectId),
  sk: diffVersionPrefix(iid) + padded(number),
});

/** Of one commit, in a project. */
export const mergeRequestCommitPrefix = (sha: string): string => `COMMIT#${sha}#`;

/** A merge request that has a commit, whatever its state. */
export const mergeRequestCommitKey = (projectId: number, sha: string, place: string): Key => ({
  pk: mergeRequestKeys.partition(projectId),
  sk: mergeRequestCommitPrefix(sha) + place,
});

/** Open merge requests whose source branches are in a project. */
export const mergeRequestSources = (sourceProjectId: number): string =>
  `MRSOURCES#${padded(sourceProjectId)}`;

export const mergeRequestSourcePrefix = (branch?: string): string =>
  branch === undefined ? 'SOURCE#' : `SOURCE#${digestOf(branch)}#`;

/** There is one open merge request of a source branch to a target branch, which has this row. */
export const mergeRequestSourceKey = (
  source: { readonly projectId: number; readonly branch: string },
  target: { readonly projectId: number; readonly branch: string },
): Key => ({
  pk: mergeRequestSources(source.projectId),
  sk: `${mergeRequestSourcePrefix(source.branch)}${padded(target.projectId)}#${digestOf(target.branch)}`,
});

export const collaborationPrefix = (branch?: string): string =>
  branch === undefined ? 'COLLABORATION#' : `COLLABORATION#${digestOf(branch)}#`;

/** An open merge request whose source branch, in a fork, is shared with members of the target. */
export const collaborationKey = (
  source: { readonly projectId: number; readonly branch: string },
  target: { readonly projectId: number; readonly branch: string },
): Key => ({
  pk: mergeRequestSources(source.projectId),
  sk: `${collaborationPrefix(source.branch)}${padded(target.projectId)}#${digestOf(target.branch)}`,
});

const { record, list, by, word, count, iid, id } = mergeRequestKeys;

export const rowKinds = [
  { name: 'merge-request', partitions: ['MRS#'], keys: { record }, of: ['project', 'user'] },
  { name: 'merge-request-in-list', partitions: ['MRS#'], keys: { list }, of: ['project'] },
  { name: 'merge-request-by', partitions: ['MRS#'], keys: { by }, of: ['project', 'user'] },
  { name: 'merge-request-word', partitions: ['MRS#'], keys: { word }, of: ['project'] },
  { name: 'merge-request-count', partitions: ['MRS#'], keys: { count }, of: ['project'] },
  { name: 'merge-request-iid', partitions: ['MRS#'], keys: { iid }, of: ['project'] },
  { name: 'merge-request-id', partitions: ['MRID#'], keys: { id }, of: ['project'] },
  { name: 'merge-request-commit', partitions: ['MRS#'], keys: { mergeRequestCommitKey }, of: ['project'] },
  { name: 'diff-version', partitions: ['MRS#'], keys: { diffVersionKey }, of: ['project'] },
  {
    name: 'merge-request-source',
    partitions: ['MRSOURCES#'],
    keys: { mergeRequestSourceKey },
    of: ['project'],
  },
  {
    name: 'merge-request-collaboration',
    partitions: ['MRSOURCES#'],
    keys: { collaborationKey },
    of: ['project'],
  },
] as const satisfies readonly RowKind[];

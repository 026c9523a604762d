/** What a merge request proposes: the commits and the files of its versions. */

import type { DiffLimits, FileDiff, FileDiffs } from '../../git/diff/patch.ts';
import type { Oid } from '../../git/oid.ts';
import type { CommitRecord } from '../../git/repository.ts';
import type { DiffVersion, MergeRequestRecord } from '../../records/merge-requests.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Deps } from '../deps.ts';
import { recordNotFound } from '../errors.ts';
import { diffLimits } from '../repository/diff-limits.ts';
import { bounded, codeOf } from '../repository/read.ts';

/** Commits that are counted and listed: the newest. */
const MAX_COMMITS = 10_000;

/** Limits of diffs that are wanted whole. Together they stay below what one answer can hold. */
const WHOLE: DiffLimits = { files: 3_000, fileBytes: 4 << 20, totalBytes: 4 << 20, totalLines: 200_000 };

interface Slice {
  readonly offset: number;
  readonly perPage: number;
}

/** A part of the commits of a version, the newest first: those that the target branch lacked when it was made. */
export async function proposedCommits(
  deps: Deps,
  access: ProjectAccess,
  { headSha, startSha }: DiffVersion,
  { offset, perPage }: Slice,
): Promise<{ readonly items: readonly CommitRecord[]; readonly total: number }> {
  const git = codeOf(deps, access);
  const range = { tips: [headSha as Oid], exclude: [startSha as Oid], limit: MAX_COMMITS };
  const nodes = await bounded(() => git.history.log(range));
  const shown = nodes.slice(offset, offset + perPage);
  return { items: await git.commits(shown.map(({ oid }) => oid)), total: nodes.length };
}

/**
 * The files that a version changes, compared with the merge base; none where there is no common commit.
 * @param whole not limited by the settings of the instance
 */
export async function proposedFiles(
  deps: Deps,
  access: ProjectAccess,
  { headSha, baseSha }: DiffVersion,
  { whole = false } = {},
): Promise<FileDiffs> {
  if (baseSha === null) return { files: [], overflow: false };
  const limits = whole ? WHOLE : await diffLimits(deps);
  return bounded(() => codeOf(deps, access).diff(baseSha as Oid, headSha as Oid, limits));
}

/** Whether files or texts are left out. */
export const isCut = ({ files, overflow }: FileDiffs): boolean => overflow || files.some(isTextCut);

const isTextCut = ({ tooLarge, collapsed }: FileDiff): boolean => tooLarge || collapsed;

/** A part of the versions of a merge request, the newest first. They are numbered without a gap. */
export async function listVersions(
  { store }: Deps,
  record: MergeRequestRecord,
  { offset, perPage }: Slice,
): Promise<{ readonly items: readonly DiffVersion[]; readonly total: number }> {
  const total = record.diff.number;
  if (offset >= total) return { items: [], total };
  const { items } = await store.mergeRequests.versions(record, perPage, total + 1 - offset);
  return { items, total };
}

/** Versions that are looked through at once. */
const VERSIONS = 100;

/** @throws `404 Not found` for an id that is of no version of the merge request */
export async function getVersion(
  { store }: Deps,
  record: MergeRequestRecord,
  id: number,
): Promise<DiffVersion> {
  // Later versions have higher ids.
  let before = record.diff.number + 1;
  while (before > 1) {
    const { items } = await store.mergeRequests.versions(record, VERSIONS, before);
    const found = items.find((version) => version.id === id);
    if (found !== undefined) return found;
    const oldest = items.at(-1);
    if (oldest === undefined || oldest.id < id) break;
    before = oldest.number;
  }
  throw recordNotFound();
}

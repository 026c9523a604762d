/** Which merge requests have a commit. */

import type { Oid } from '../../git/oid.ts';
import { commitsOf, isLong, type MergeRequestRecord } from '../../records/merge-requests.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Deps } from '../deps.ts';
import { bounded, codeOf } from '../repository/read.ts';
import type { Matcher } from './conditions.ts';

/** Merge requests with more commits than they are found by, whose history is looked into for one list: the first. */
const MAX_LONG = 100;

/**
 * Decides about merge requests of one project: most by the commits that they are found by, those with more by history.
 * @returns also whether there were more of these than may be looked into
 */
export function withCommit(
  deps: Deps,
  access: ProjectAccess,
  sha: string,
): { readonly matches: Matcher<MergeRequestRecord>; readonly isCut: () => boolean } {
  let left = MAX_LONG;
  let cut = false;
  return {
    isCut: () => cut,
    matches: async (records) => {
      const long = records.filter((record) => !commitsOf(record).includes(sha) && isLong(record));
      const looked = long.slice(0, left);
      cut ||= looked.length < long.length;
      left -= looked.length;
      const having = new Set(looked.length === 0 ? [] : await proposing(deps, access, looked, sha as Oid));
      return records.map((record) => commitsOf(record).includes(sha) || having.has(record));
    },
  };
}

/** Those whose head has a commit that their target lacked. */
async function proposing(
  deps: Deps,
  access: ProjectAccess,
  records: readonly MergeRequestRecord[],
  sha: Oid,
): Promise<MergeRequestRecord[]> {
  const { history } = codeOf(deps, access);
  const having = async (commits: readonly string[]) => {
    const distinct = [...new Set(commits)] as Oid[];
    const has = await bounded(() => history.containing(distinct, sha));
    return new Set<string>(distinct.filter((_, i) => has[i]));
  };
  const heads = await having(records.map(({ diff }) => diff.headSha));
  const proposed = records.filter(({ diff }) => heads.has(diff.headSha));
  if (proposed.length === 0) return [];
  const starts = await having(proposed.map(({ diff }) => diff.startSha));
  return proposed.filter(({ diff }) => !starts.has(diff.startSha));
}

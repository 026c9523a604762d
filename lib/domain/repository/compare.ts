import type { DiffLimits, FileDiff } from '../../git/diff/patch.ts';
import type { Oid } from '../../git/oid.ts';
import type { CommitRecord, GitRepository } from '../../git/repository.ts';
import { bounded, resolved } from './read.ts';

export interface RefComparison {
  /** The commit that the files are compared with: `from`, or the merge base. */
  readonly base: Oid;
  readonly head: Oid;
  /** Commits reachable from `head` but not from `from`, oldest first; only the newest if there are too many. */
  readonly commits: readonly CommitRecord[];
  readonly files: readonly FileDiff[];
  /** Incomplete: a size or time limit was reached. */
  readonly truncated: boolean;
  readonly same: boolean;
}

/** Milliseconds, well below the gateway's 29 seconds. */
const COMPARE_MS = 20_000;
const MAX_COMMITS = 1000;

/**
 * Compares two branches, tags or commits. Without a merge base the result has commits but no files.
 * @param straight compare the files of `from` and `to`, instead of the merge base and `to`
 * @param limits size limits of the file diffs
 * @param source the repository of `from`, if it is another one; `git` can read its objects
 * @throws `404 Ref Not Found`
 */
export async function compareRefs(
  git: GitRepository,
  { from, to, straight }: { readonly from: string; readonly to: string; readonly straight: boolean },
  limits: DiffLimits,
  source = git,
): Promise<RefComparison> {
  const [start, { commit: head }] = await Promise.all([
    resolved(source, from, 'Ref'),
    resolved(git, to, 'Ref'),
  ]);
  const nothing = { base: start.commit, head, commits: [], files: [], truncated: false, same: false };
  if (start.commit === head) return { ...nothing, same: true };
  const signal = AbortSignal.timeout(COMPARE_MS);
  try {
    return await bounded(async () => {
      const options = { ...limits, straight, commits: MAX_COMMITS, bounds: { signal }, signal };
      const comparison = await git.compare(start.commit, head, options);
      if (comparison === undefined) {
        const log = { tips: [head], exclude: [start.commit], limit: MAX_COMMITS };
        return { ...nothing, commits: (await git.log(log, { signal })).reverse() };
      }
      const { base, commits, files, overflow, commitsTruncated } = comparison;
      const truncated = overflow || commitsTruncated || files.some((file) => file.collapsed);
      return { base, head, commits, files, truncated, same: false };
    });
  } catch (error) {
    if (signal.aborted && error === signal.reason) return { ...nothing, truncated: true };
    throw error;
  }
}

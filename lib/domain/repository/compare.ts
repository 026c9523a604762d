import type { DiffLimits, FileDiff } from '../../git/diff/patch.ts';
import type { Oid } from '../../git/oid.ts';
import type { CommitRecord, GitRepository } from '../../git/repository.ts';
import { bounded, resolved } from './read.ts';

export interface RefComparison {
  /** What the files are compared with: `from`, or where the histories parted. */
  readonly base: Oid;
  readonly head: Oid;
  /** Those of `head` that `from` has not, oldest first; of too many the newest. */
  readonly commits: readonly CommitRecord[];
  readonly files: readonly FileDiff[];
  /** Something was left out: a limit was reached, or the time was over. */
  readonly truncated: boolean;
  readonly same: boolean;
}

/** Milliseconds, well within the 29 seconds of a gateway. */
const COMPARE_MS = 20_000;
const MAX_COMMITS = 1000;

/**
 * What one branch, tag or commit has that another has not. Without a common history there are commits and no files.
 * @param straight compare the files of the two themselves, instead of with where they parted
 * @param limits how much is told of the files
 * @param source where `from` is looked up, when that is another repository, whose objects `git` reads too
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
      const found = await git.compare(start.commit, head, options);
      if (found === undefined) {
        const log = { tips: [head], exclude: [start.commit], limit: MAX_COMMITS };
        return { ...nothing, commits: (await git.log(log, { signal })).reverse() };
      }
      const { base, commits, files } = found;
      const cut = found.overflow || found.commitsTruncated || files.some((file) => file.collapsed);
      return { base, head, commits, files, truncated: cut, same: false };
    });
  } catch (error) {
    if (signal.aborted && error === signal.reason) return { ...nothing, truncated: true };
    throw error;
  }
}

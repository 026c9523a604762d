/** Versions of what merge requests propose, and the ref by which the target's repository has their head. */

import { type Oid, ZERO_OID } from '../../git/oid.ts';
import type { RefName } from '../../git/refname.ts';
import { GitRepository } from '../../git/repository.ts';
import {
  type DiffVersion,
  MAX_COUNTED_FILES,
  MAX_FINDING_COMMITS,
  type MergeRequestAddress,
} from '../../records/merge-requests.ts';
import { versionPinRows } from '../../store/repository/pinned-commits.ts';
import type { Write } from '../../store/table/write.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Deps } from '../deps.ts';
import { codeWithAlternate } from '../forks/network.ts';
import { openRepository } from '../repository/open.ts';
import { bounded, codeOf } from '../repository/read.ts';
import { tipOf } from './branch-tip.ts';

/** The head of a merge request in the repository of its target, which `git fetch` gets. */
export const headRef = (iid: number): RefName => `refs/merge-requests/${iid}/head` as RefName;

/** Both sides of a merge request. The actor may read the code of both projects. */
export interface Sides {
  readonly target: ProjectAccess;
  /** The same as `target`, where the branch is no fork's. */
  readonly source: ProjectAccess;
}

/** What a version says beside its number. */
export type Proposed = Pick<DiffVersion, 'headSha' | 'baseSha' | 'startSha' | 'fileCount' | 'commitShas'>;

/** A missing branch. */
export interface MissingBranch {
  readonly missing: 'source' | 'target';
}

/** Reads what the branches propose now. */
export async function proposedBy(
  deps: Deps,
  sides: Sides,
  { sourceBranch, targetBranch }: { readonly sourceBranch: string; readonly targetBranch: string },
): Promise<Proposed | MissingBranch> {
  const [head, start] = await Promise.all([
    tipOf(deps, sides.source, sourceBranch),
    tipOf(deps, sides.target, targetBranch),
  ]);
  if (head === undefined) return { missing: 'source' };
  if (start === undefined) return { missing: 'target' };
  return proposalOf(deps, sides, head, start);
}

/** What a head proposes to a target that is at `start`. */
export async function proposalOf(deps: Deps, sides: Sides, head: Oid, start: Oid): Promise<Proposed> {
  const git = gitOf(deps, sides);
  const [[base], commits] = await Promise.all([
    bounded(() => git.history.mergeBases(head, [start])),
    bounded(() => git.history.log({ tips: [head], exclude: [start], limit: MAX_FINDING_COMMITS })),
  ]);
  const shas = { headSha: head, startSha: start, commitShas: commits.map(({ oid }) => oid) };
  if (base === undefined) return { ...shas, baseSha: null };
  return { ...shas, baseSha: base.oid, fileCount: await countFiles(git, base.oid, head) };
}

async function countFiles(git: GitRepository, base: Oid, head: Oid): Promise<number> {
  // Whether there are too many is known before renames are looked for.
  const { changes, truncated } = await git.changes(base, head, { limit: 2 * MAX_COUNTED_FILES });
  if (truncated) return MAX_COUNTED_FILES + 1;
  if (changes.length === 0) return 0;
  const files = await bounded(() => git.changedFiles(base, head));
  return Math.min(files.length, MAX_COUNTED_FILES + 1);
}

const isFork = ({ target, source }: Sides): boolean =>
  target.project.repositoryId !== source.project.repositoryId;

/** Reads the objects of both sides. */
export const gitOf = (deps: Deps, sides: Sides): GitRepository =>
  isFork(sides) ? codeWithAlternate(deps, sides.target, sides.source) : codeOf(deps, sides.target);

/** The versions before and after a change; undefined: there was none before. */
export interface VersionStep {
  readonly before: DiffVersion | undefined;
  readonly after: DiffVersion;
}

/**
 * Commits the writes of a change that makes a version the latest, together with the ref of the head. What a fork has and
 * the target lacks is copied, and earlier heads and the start are pinned, so that every version can be shown as long as it is there.
 * @throws ObjectMissing where too much would have to be copied; RefConflict, what `writes` are refused with
 */
export async function commitVersion(
  deps: Deps,
  sides: Sides,
  merging: MergeRequestAddress,
  { before, after }: VersionStep,
  writes: readonly Write[],
): Promise<void> {
  const { target } = sides;
  const kept = [after.startSha, ...(before === undefined ? [] : [before.headSha])] as Oid[];
  const together = {
    writes: [
      ...writes,
      deps.store.mergeRequests.versionWrite(merging, after),
      ...versionPinRows(target.project.repositoryId, merging.iid, kept),
    ],
  };
  const git = isFork(sides)
    ? codeWithAlternate(deps, target, sides.source, undefined, { together })
    : new GitRepository(
        openRepository(deps, target.project).together(together),
        deps.histories.of(target.project.repositoryId),
      );
  const head = after.headSha as Oid;
  const update = {
    name: headRef(merging.iid),
    from: (before?.headSha ?? ZERO_OID) as Oid,
    to: head,
    forced: before !== undefined && before.headSha !== head,
  };
  await git.publish([], [update], { uses: [head, after.startSha as Oid] });
}

/** The messages of pushed commits: what they name is told, and those of the default branch close issues. */
import { CorruptData } from '../../git/corrupt-data.ts';
import { HistoryLimit } from '../../git/history.ts';
import { ObjectMissing } from '../../git/objects.ts';
import { type Oid, ZERO_OID } from '../../git/oid.ts';
import { branchRef } from '../../git/refname.ts';
import type { CommitRecord, GitRepository } from '../../git/repository.ts';
import { LimitExceeded } from '../../git/work.ts';
import { type Push, type PushedBranch, placeOf, type Writer } from '../../store/notes/mentions.ts';
import { can } from '../access/permissions.ts';
import type { Deps } from '../deps.ts';
import { mayNameAny } from '../markdown/references.ts';
import { codeOf } from '../repository/read.ts';
import { closeIssue, issuesClosedBy } from './closing.ts';
import { type Mentioning, readingOf } from './mentioning.ts';
import { tellNamed } from './mentions.ts';
import { closeIssuesOf } from './merged.ts';
import type { Named } from './resolve.ts';

/** New commits of a branch whose messages are read: the newest. */
const MAX_COMMITS = 100;
/** Commits visited to find the new ones. */
const MAX_VISITED = 300_000;
/** @param deadline milliseconds since 1970. @returns whether it came to the end; it may run again */
export async function tellOfPush(deps: Deps, push: Writer & Push, deadline: number): Promise<boolean> {
  const reading = await readingOf(deps, push.projectId, push);
  if (reading === undefined || !can(reading.actor, reading.project, 'read_code')) return true;
  const { project } = reading.project;
  // Before its commits: what merges them may name the same issues.
  if (push.merged !== undefined) await closeIssuesOf(deps, reading, push.merged);
  const git = codeOf(deps, reading.project);
  const defaultBranch = project.defaultBranch === null ? undefined : branchRef(project.defaultBranch);
  for (const branch of push.branches) {
    const isDefault = branch.name === defaultBranch;
    const commits = await newCommits(git, branch, isDefault ? undefined : defaultBranch);
    for (const commit of commits.toReversed()) {
      if (!mayNameAny(commit.message)) continue;
      if (Date.now() > deadline) return false;
      const source = { kind: 'commit', projectId: project.id, sha: commit.oid } as const;
      const closed = isDefault ? await issuesClosedBy(deps, commit.message, reading) : [];
      for (const issue of closed) await closeIssue(deps, issue, { reading, source });
      const isClosed = await deps.store.mentionNotes.known(
        closed.map(({ issue }) => placeOf('issue', issue)),
        'closed',
        source,
      );
      const closedIds = closed.flatMap(({ issue }, i) => (isClosed[i] ? [issue.id] : []));
      // What merges something names it, which is noted there already.
      const isTold = ({ projectId, iid, noteable }: Named['at']) =>
        noteable.kind === 'issue'
          ? closedIds.includes(noteable.id)
          : noteable.kind === 'merge-request' && projectId === project.id && iid === push.merged;
      const mentioning: Mentioning = { text: commit.message, reading, source };
      if (!(await tellNamed(deps, mentioning, deadline, isTold))) return false;
    }
  }
  return true;
}

/** The new commits of a branch, the newest first. None where the history is damaged, or was replaced meanwhile. */
async function newCommits(
  git: GitRepository,
  { from, to }: PushedBranch,
  defaultBranch: string | undefined,
): Promise<CommitRecord[]> {
  try {
    const beside =
      from === ZERO_OID && defaultBranch !== undefined ? await git.resolve(defaultBranch) : undefined;
    const base = from === ZERO_OID ? beside?.commit : (from as Oid);
    const range = { tips: [to as Oid], ...(base === undefined ? {} : { exclude: [base] }) };
    return await git.log({ ...range, limit: MAX_COMMITS }, { maxCommits: MAX_VISITED });
  } catch (error) {
    const isBeyond = error instanceof HistoryLimit || error instanceof LimitExceeded;
    if (isBeyond || error instanceof ObjectMissing || error instanceof CorruptData) return [];
    throw error;
  }
}

/** The messages of pushed commits: issues that they name are told, and those of the default branch close issues. */
import { CorruptData } from '../../git/corrupt-data.ts';
import { HistoryLimit } from '../../git/history.ts';
import { ObjectMissing } from '../../git/objects.ts';
import { type Oid, ZERO_OID } from '../../git/oid.ts';
import { branchRef } from '../../git/refname.ts';
import type { CommitRecord, GitRepository } from '../../git/repository.ts';
import { LimitExceeded } from '../../git/work.ts';
import type { MentionSource } from '../../records/notes.ts';
import { TransactionRefused } from '../../store/errors.ts';
import type { PushedBranch, Writer } from '../../store/notes/mentions.ts';
import { can } from '../access/permissions.ts';
import { isOwn } from '../access/visible-issues.ts';
import type { Deps } from '../deps.ts';
import { DomainError } from '../errors.ts';
import { changeIssue } from '../issues/change.ts';
import { stateAfter } from '../issues/issues.ts';
import type { FoundIssue } from '../issues/related.ts';
import { closesIssues } from '../markdown/closing.ts';
import { mayNameIssues } from '../markdown/references.ts';
import { codeOf } from '../repository/read.ts';
import { type Mentioning, nameOf, readingOf, tellIssues } from './mentions.ts';
import type { Reading } from './reading.ts';
import { referredIssues } from './resolve.ts';

/** New commits of a branch whose messages are read: the newest. */
const MAX_COMMITS = 100;
/** Commits visited to find the new ones. */
const MAX_VISITED = 300_000;
/** Issues that one text closes: the first that it names so. */
const MAX_CLOSED = 100;

/** @param deadline milliseconds since 1970. @returns whether it came to the end; it may run again */
export async function tellOfPush(
  deps: Deps,
  push: Writer & { readonly projectId: number; readonly branches: readonly PushedBranch[] },
  deadline: number,
): Promise<boolean> {
  const reading = await readingOf(deps, push.projectId, push);
  if (reading === undefined || !can(reading.actor, reading.project, 'read_code')) return true;
  const { project } = reading.project;
  const git = codeOf(deps, reading.project);
  const defaultBranch = project.defaultBranch === null ? undefined : branchRef(project.defaultBranch);
  for (const branch of push.branches) {
    const isDefault = branch.name === defaultBranch;
    const commits = await newCommits(git, branch, isDefault ? undefined : defaultBranch);
    for (const commit of commits.toReversed()) {
      if (!mayNameIssues(commit.message)) continue;
      if (Date.now() > deadline) return false;
      const source = { kind: 'commit', projectId: project.id, sha: commit.oid } as const;
      const closed = isDefault ? await issuesClosedBy(deps, commit.message, reading) : [];
      for (const issue of closed) await closeIssue(deps, issue, { reading, source });
      const isClosed = await deps.store.mentions.known(
        closed.map(({ issue }) => issue),
        'closed',
        source,
      );
      const except = closed.flatMap(({ issue }, i) => (isClosed[i] ? [issue.id] : []));
      const mentioning: Mentioning = { text: commit.message, reading, source };
      if (!(await tellIssues(deps, mentioning, deadline, except))) return false;
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

/**
 * Returns the issues that a text closes once it reaches the default branch of its project, as far as its writer sees
 * them and their projects allow it. A fork closes no issues of the project it was made from.
 */
export async function issuesClosedBy(
  deps: Deps,
  text: string,
  reading: Reading & Pick<Mentioning['reading'], 'project'>,
): Promise<FoundIssue[]> {
  const references = closesIssues(text, reading.baseUrl).slice(0, MAX_CLOSED);
  if (references.length === 0) return [];
  const { forkedFromId } = reading.project.project;
  return (await referredIssues(deps, references, reading)).filter(
    ({ access: { project } }) =>
      project.id !== forkedFromId && project.settings['autoclose_referenced_issues'] !== false,
  );
}

/** Closes an issue as the pusher, if they may, once for each commit: one that is opened again stays so. */
async function closeIssue(
  deps: Deps,
  { issue, access }: FoundIssue,
  { reading, source }: { readonly reading: Mentioning['reading']; readonly source: MentionSource },
): Promise<void> {
  const { actor, project } = reading;
  const isAllowed =
    can(actor, access, 'update_issue') || (isOwn(actor, issue) && can(actor, access, 'create_issue'));
  if (issue.state === 'closed' || !isAllowed) return;
  const at = deps.now();
  const text = `closed via ${nameOf(source, project.project, access.project)}`;
  try {
    await changeIssue(
      deps,
      actor,
      access,
      issue.iid,
      (before) => {
        if (before.state === 'closed') throw new AlreadyClosed();
        return { ...stateAfter(before, 'close', actor.user.id, at), updatedAt: at.toISOString() };
      },
      {
        notes: [{ action: 'closed', text, mentionedIn: source }],
        alongside: [deps.store.mentions.once(issue, 'closed', source)],
      },
    );
  } catch (error) {
    const isDone =
      error instanceof AlreadyClosed || (error instanceof TransactionRefused && error.has('mention'));
    const isGone = error instanceof DomainError && error.code === 'not-found';
    if (!isDone && !isGone) throw error;
  }
}

class AlreadyClosed extends Error {
  override readonly name = 'AlreadyClosed';
}

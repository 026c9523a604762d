import { titleOf } from '../../git/commit-title.ts';
import type { Oid } from '../../git/oid.ts';
import type { Identity } from '../../git/parse.ts';
import { branchRef, isOidLike, type RefName } from '../../git/refname.ts';
import type { CommitRecord, GitRepository } from '../../git/repository.ts';
import { signedIn } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import { ownedChangeRefusal } from '../code-owners/owned-change.ts';
import type { Deps } from '../deps.ts';
import { forbidden, notFound, refused } from '../errors.ts';
import { serializeByKey } from '../in-process-queue.ts';
import { pushAccess } from '../refs/collaboration.ts';
import { BRANCH_REFUSALS, branchProtection } from '../refs/protection.ts';
import { identityOf } from '../repository/identity.ts';
import { codeOf } from '../repository/read.ts';
import { repositoryTooLarge, sizeExcess } from '../repository/size-limits.ts';
import { lostRef, retryOnConflict } from '../retry-on-conflict.ts';
import { started } from '../started.ts';
import { writeRefusal } from './actions.ts';

export interface PickInput {
  /** The commit to pick: a branch, tag or ID. */
  readonly sha: string;
  /** The branch to commit to. */
  readonly branch: string;
  /** Replaces the default message. */
  readonly message?: string | undefined;
  /** Only check whether it would succeed. */
  readonly dryRun: boolean;
}

/** A merge request, as the message of a commit names it. */
export interface NamedMergeRequest {
  /** `!1` */
  readonly reference: string;
  /** The commits that it brought, oldest first. */
  readonly commits: readonly Pick<CommitRecord, 'oid' | 'message'>[];
}

/** The merge request that a merge commit of the project merged, if the caller may read it. */
export type MergeRequestOf = (merge: Oid) => Promise<NamedMergeRequest | undefined>;

const QUEUE_TIMEOUT_MS = 8000;

/**
 * Cherry-picks or reverts a commit on a branch, in a new commit. Of a merge commit, the change against its first
 * parent is picked, and the default message names the merge request that it merged.
 * @returns undefined after a successful dry run
 * @throws 403 without the right to push, `404 Commit Not Found`, `404 Branch Not Found`, 400 for a repository above its
 *   size limit, 400 with the `error_code` `empty` or `conflict` if the change cannot be applied
 */
export async function pickCommit(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  kind: 'cherry-pick' | 'revert',
  input: PickInput,
  mergeRequestOf: MergeRequestOf,
): Promise<{ git: GitRepository; commit: CommitRecord } | undefined> {
  const pushing = await pushAccess(deps, actor, access, input.branch);
  if (pushing === undefined) throw forbidden(BRANCH_REFUSALS.pushInto);
  const reading = started(branchProtection(deps, pushing, actor));
  const resolving = started(codeOf(deps, access).resolve(input.sha));
  const protection = await reading;
  if (!protection.mayPush(actor, input.branch)) throw forbidden(BRANCH_REFUSALS.pushInto);
  const excess = await sizeExcess(deps, access.project);
  if (excess !== undefined) throw repositoryTooLarge(excess);
  const picked = (await resolving)?.commit;
  if (picked === undefined) throw notFound('Commit');
  const branch = branchRef(input.branch);
  if (branch === undefined) throw refused('The branch refname is invalid');
  if (isOidLike(input.branch)) throw refused(BRANCH_REFUSALS.oidLike);

  const committer = identityOf(signedIn(actor).user, deps.now());
  const isOwned = protection.asksOwnersOf(actor, input.branch);
  const pick = { kind, input, picked, branch, committer, isOwned, mergeRequestOf };
  const attempt = () => pickOnce(codeOf(deps, access, actor), pick);
  try {
    return await serializeByKey(`${access.project.repositoryId} ${branch}`, QUEUE_TIMEOUT_MS, () =>
      retryOnConflict(attempt, lostRef),
    );
  } catch (error) {
    throw writeRefusal(error, input.branch);
  }
}

interface Picking {
  readonly kind: 'cherry-pick' | 'revert';
  readonly input: PickInput;
  readonly picked: Oid;
  readonly branch: RefName;
  readonly committer: Identity;
  /** The branch asks for code owners. */
  readonly isOwned: boolean;
  readonly mergeRequestOf: MergeRequestOf;
}

async function pickOnce(
  git: GitRepository,
  { kind, input, picked, branch, committer, isOwned, mergeRequestOf }: Picking,
) {
  const [ref, commit] = await Promise.all([git.ref(branch), git.commit(picked)]);
  if (ref === undefined) throw notFound('Branch');
  const request = { commit: picked, onto: ref.oid };
  const outcome = kind === 'revert' ? await git.revert(request) : await git.cherryPick(request);
  if (outcome.kind !== 'picked') {
    throw refused(FAILURES[kind], {
      error_code: outcome.kind,
      ...(input.dryRun ? { dry_run: 'error' } : {}),
    });
  }
  const to = { oid: outcome.tree, objects: outcome.objects };
  const owned = isOwned && (await ownedChangeRefusal(git, ref.oid, { to }));
  if (owned) throw forbidden(owned);
  if (input.dryRun) return undefined;
  const oid = await git.commitTree({
    branch,
    expected: ref.oid,
    parents: [ref.oid],
    uses: [picked],
    tree: outcome.tree,
    objects: outcome.objects,
    author: kind === 'revert' ? committer : commit.author,
    committer,
    message: input.message?.trim() ? input.message : await messageOf(kind, commit, mergeRequestOf),
  });
  return { git, commit: await git.commit(oid) };
}

const FAILURES = {
  'cherry-pick':
    'Sorry, we cannot cherry-pick this commit automatically. This commit may already have been cherry-picked, or a more recent commit may have updated some of its content.',
  revert:
    'Sorry, we cannot revert this commit automatically. This commit may already have been reverted, or a more recent commit may have updated some of its content.',
} as const;

async function messageOf(
  kind: Picking['kind'],
  { oid, message, parents }: CommitRecord,
  mergeRequestOf: MergeRequestOf,
): Promise<string> {
  const merged = parents.length > 1 ? await mergeRequestOf(oid) : undefined;
  if (kind === 'revert') {
    const what = merged === undefined ? `commit ${oid}` : `merge request ${merged.reference}`;
    return `Revert "${titleOf(message)}"\n\nThis reverts ${what}`;
  }
  const brought = (merged?.commits ?? []).map((each) => `${each.oid.slice(0, 8)} ${titleOf(each.message)}`);
  const picked = `${message.trimEnd()}\n\n(cherry picked from commit ${oid})`;
  return brought.length === 0 ? picked : `${picked}\n\n${brought.join('\n')}`;
}

import type { EditAction } from '../../git/edit.ts';
import { EditError, NothingToCommit, UnsoundObjects } from '../../git/edit-errors.ts';
import { ObjectMissing } from '../../git/objects.ts';
import { type Oid, parseOid, ZERO_OID } from '../../git/oid.ts';
import type { Identity } from '../../git/parse.ts';
import { branchRef, fitsFile, isOidLike, type RefName } from '../../git/refname.ts';
import type { CommitRecord, GitRepository } from '../../git/repository.ts';
import type { Write } from '../../store/table/write.ts';
import { can, signedIn } from '../access/permissions.ts';
import { projectAccesses } from '../access/project-accesses.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import { type DirectChange, ownedChangeRefusal } from '../code-owners/owned-change.ts';
import { OWNERS_PATHS } from '../code-owners/read.ts';
import type { Deps } from '../deps.ts';
import { forbidden, notFound, refused } from '../errors.ts';
import { codeWithAlternate, related } from '../forks/network.ts';
import { serializeByKey } from '../in-process-queue.ts';
import { pushAccess } from '../refs/collaboration.ts';
import { BRANCH_REFUSALS, branchProtection } from '../refs/protection.ts';
import { refConflictError } from '../repository/conflicts.ts';
import { identityOf } from '../repository/identity.ts';
import { bounded, codeOf } from '../repository/read.ts';
import { repositoryTooLarge, sizeExcess } from '../repository/size-limits.ts';
import { started } from '../started.ts';

/** An action with the last commit of its path that the caller knows. */
export interface GuardedAction {
  readonly edit: EditAction;
  /** The action is refused if the path has changed since; ignored for new files. */
  readonly lastCommitId?: string | undefined;
}

export interface CommitInput {
  readonly branch: string;
  readonly message: string;
  readonly actions: readonly GuardedAction[];
  readonly startBranch?: string | undefined;
  readonly startSha?: string | undefined;
  /** ID or full path of the project to start from. Default: the project itself. */
  readonly startProject?: string | undefined;
  readonly authorName?: string | undefined;
  readonly authorEmail?: string | undefined;
  /** Reset the branch to the start and the new commit. */
  readonly force?: boolean;
  /**
   * Further writes of the transaction that moves the branch, where it starts from no other project; their refusals are
   * thrown as TransactionRefused.
   */
  readonly alongside?: readonly Write[];
}

/** Error texts of an endpoint. */
export interface RefusalTexts {
  /**
   * Text of the 403 if the caller may not push. If absent: plain `403 Forbidden` without the role, and 400 if a rule
   * protects the branch.
   */
  readonly push?: string;
  /** A stale `last_commit_id`. */
  readonly stale: (path: string) => string;
}

/** With the 15 s in which a commit tries again, within the gateway's 29 s. */
const QUEUE_TIMEOUT_MS = 12_000;

const NO_BRANCH = 'You can only create or edit files when you are on a branch';

/**
 * Creates one commit from several actions, all or none.
 * @throws 403 without the right to push, 400 with the reason of a refusal
 */
export async function commitActions(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  input: CommitInput,
  texts: RefusalTexts,
): Promise<{ git: GitRepository; commit: CommitRecord }> {
  const pushing = await pushAccess(deps, actor, access, input.branch);
  if (pushing === undefined) throw forbidden(texts.push);
  const source =
    input.startProject === undefined
      ? undefined
      : await startProjectOf(deps, actor, access, input.startProject);
  const branch = branchRef(input.branch);
  if (branch === undefined) throw refused(NO_BRANCH);
  if (isOidLike(input.branch)) throw refused(BRANCH_REFUSALS.oidLike);
  const together = input.alongside && { writes: input.alongside };
  const openGit = () =>
    source === undefined
      ? codeOf(deps, access, actor, together)
      : codeWithAlternate(deps, access, source, actor);
  const first = openGit();
  const sourceGit = source && codeOf(deps, source);
  const reading = started(branchProtection(deps, pushing, actor));
  const excess = await sizeExcess(deps, access.project);
  const committer = identityOf(signedIn(actor).user, deps.now());
  const author = authorOf(committer, input);
  const denied = () => (texts.push === undefined ? refused(BRANCH_REFUSALS.pushInto) : forbidden(texts.push));
  const commit = async (waited: boolean) => {
    const git = waited ? openGit() : first;
    const starting = started(startOf(git, branch, input, sourceGit));
    const protection = await reading;
    if (!protection.mayPush(actor, input.branch)) throw denied();
    if (excess !== undefined) throw repositoryTooLarge(excess);
    if (input.message.trim() === '') throw refused('You must provide a commit message');
    const start = await starting;
    // A branch is shared as long as it is there.
    if (start.expected === ZERO_OID && pushing.collaboration !== undefined) throw denied();
    if (!protection.mayForce(input.branch)) await requireFastForward(git, start);
    const isOwned = protection.asksOwnersOf(actor, input.branch) && start.expected !== ZERO_OID;
    const owned = isOwned && (await ownedChangeRefusal(git, start.expected, changeOf(start, input)));
    if (owned) throw texts.push === undefined ? refused(owned) : forbidden(owned);
    await checkLastCommits(git, start.parent, input.actions, texts.stale);
    const committed = await git.commitChanges({
      branch,
      ...start,
      force: input.force === true,
      actions: input.actions.map((action) => action.edit),
      ...(isOwned ? { reads: OWNERS_PATHS } : {}),
      author,
      committer,
      message: input.message,
    });
    return { git, commit: await git.commit(committed.commit) };
  };
  try {
    // Writers of one process would only make each other begin again.
    return await serializeByKey(`${access.project.repositoryId} ${branch}`, QUEUE_TIMEOUT_MS, commit);
  } catch (error) {
    if (source !== undefined && error instanceof ObjectMissing) {
      throw refused('The history of the start project is too large to be copied');
    }
    throw writeRefusal(error, input.branch);
  }
}

/**
 * Returns the project to start from; undefined if it is the project itself.
 * @throws 404 if the actor may not see it, 403 if it is not in the fork network or they may not read its code
 */
async function startProjectOf(
  deps: Deps,
  actor: Actor,
  { project: own }: ProjectAccess,
  idOrPath: string,
): Promise<ProjectAccess | undefined> {
  const { projects } = deps.store;
  const id = /^\d+$/.test(idOrPath) ? Number(idOrPath) : (await projects.holderOfPath(idOrPath))?.id;
  if (id === own.id) return undefined;
  const [access] = id === undefined ? [] : await projectAccesses(deps, actor, [id]);
  if (access === undefined) throw notFound('Project');
  if (!related(own, access.project)) {
    throw forbidden(`Project is not included in the fork network for ${own.namespaceName} / ${own.name}`);
  }
  if (!can(actor, access, 'read_code')) throw forbidden();
  return access;
}

interface Start {
  readonly expected: Oid;
  readonly parent?: Oid;
}

/**
 * Determines the expected tip of the branch and the parent of the new commit.
 * @param other the repository to start from, if it is another one
 */
async function startOf(
  git: GitRepository,
  branch: RefName,
  input: CommitInput,
  other?: GitRepository,
): Promise<Start> {
  const current = (await git.ref(branch))?.oid;
  if (current === undefined && !fitsFile(branch)) throw refused(NO_BRANCH);
  const starts = input.startBranch !== undefined || input.startSha !== undefined;
  const elsewhere = other !== undefined || (starts && input.startBranch !== input.branch);
  if (current !== undefined && !elsewhere) return { expected: current, parent: current };
  if (current !== undefined && input.force !== true) {
    throw refused(
      `A branch called '${input.branch}' already exists. Switch to that branch in order to make changes`,
    );
  }
  const expected = current ?? ZERO_OID;
  const from = other ?? git;
  if (input.startSha !== undefined) return { expected, parent: await startCommit(from, input.startSha) };
  const startBranch = input.startBranch ?? (other === undefined ? undefined : input.branch);
  if (startBranch !== undefined) {
    const name = branchRef(startBranch);
    const tip = name && (await from.ref(name))?.oid;
    if (tip === undefined) throw refused(NO_BRANCH);
    return { expected, parent: tip };
  }
  if (await git.hasBranches()) throw refused(NO_BRANCH);
  return { expected };
}

/** @throws 400 if a commit on this start would drop commits of the branch */
async function requireFastForward(git: GitRepository, { expected, parent }: Start): Promise<void> {
  if (expected === ZERO_OID || parent === undefined || parent === expected) return;
  if (!(await bounded(() => git.history.isAncestor(expected, parent)))) throw refused(BRANCH_REFUSALS.force);
}

/** What the actions, and another start, change of the branch. */
const changeOf = ({ expected, parent }: Start, { actions }: Pick<CommitInput, 'actions'>): DirectChange => ({
  paths: actions.flatMap(({ edit }) => (edit.action === 'move' ? [edit.path, edit.from] : [edit.path])),
  to: parent === undefined || parent === expected ? undefined : { oid: parent },
});

async function startCommit(git: GitRepository, sha: string): Promise<Oid> {
  const oid = parseOid(sha.toLowerCase());
  if (oid === undefined) throw refused(`Invalid start_sha '${sha}'`);
  const found = await git.resolve(oid);
  if (found === undefined) throw refused(`Cannot find start_sha '${sha}'`);
  return found.commit;
}

/** Not repeated after a lost race: a retry happens only if the paths are unchanged. */
async function checkLastCommits(
  git: GitRepository,
  parent: Oid | undefined,
  actions: readonly GuardedAction[],
  stale: RefusalTexts['stale'],
): Promise<void> {
  for (const { edit, lastCommitId } of actions) {
    if (lastCommitId === undefined || lastCommitId === '' || parent === undefined) continue;
    if (edit.action === 'create' || edit.action === 'chmod') continue;
    const path = edit.action === 'move' ? edit.from : edit.path;
    const last = await bounded(() => git.lastCommitForPath(parent, path));
    if (last !== lastCommitId.toLowerCase()) throw refused(stale(path));
  }
}

function authorOf(committer: Identity, input: Pick<CommitInput, 'authorName' | 'authorEmail'>): Identity {
  const name = input.authorName?.trim() ?? '';
  const email = input.authorEmail?.trim() ?? '';
  // These characters would corrupt the commit header (`name <mail> time zone`). In the caller's own name they are
  // dropped, as git does: a user's name is no reason to refuse a commit.
  if (/[\n\0<>]/.test(name)) throw refused('author_name is invalid');
  if (/[\n\0<>\s]/.test(email)) throw refused('author_email is invalid');
  return { ...committer, name: name || committer.name, email: email || committer.email };
}

/** Translates errors of the Git engine into the API's error texts. */
export function writeRefusal(error: unknown, branch: string): unknown {
  if (error instanceof EditError) return refused(editText(error));
  if (error instanceof NothingToCommit) return refused('The commit would change nothing');
  if (error instanceof ObjectMissing) return refused(NO_BRANCH);
  if (error instanceof UnsoundObjects) {
    const problems = new Set(error.findings.map(({ message }) => message));
    return refused(`The commit is invalid: ${[...problems].slice(0, 10).join(', ')}`);
  }
  return refConflictError(error, `Could not update refs/heads/${branch}. Please refresh and try again.`);
}

function editText(error: EditError): string {
  switch (error.code) {
    case 'exists':
    case 'parent-is-file':
      return 'A file with this name already exists';
    case 'directory-exists':
      return 'A directory with this name already exists';
    case 'missing':
      return "A file with this name doesn't exist";
    case 'not-a-regular-file':
      return 'Only regular files can be changed';
    case 'invalid-path':
      if (error.problem === 'empty') return 'You must provide a file path';
      if (error.problem === 'traversal') return 'Path cannot include directory traversal';
      return `invalid path: '${error.path}'`;
  }
}

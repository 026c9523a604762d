import type { Oid } from '../../git/oid.ts';
import { branchRef, type RefName } from '../../git/refname.ts';
import type { GitRepository } from '../../git/repository.ts';
import type { RateLimit } from '../../store/rate-limits/rate-limits.ts';
import { can, signedIn } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import { ownedChangeRefusal } from '../code-owners/owned-change.ts';
import { OWNERS_PATHS } from '../code-owners/read.ts';
import { writeRefusal } from '../commits/actions.ts';
import type { Deps } from '../deps.ts';
import { forbidden, refused, tooManyRequests } from '../errors.ts';
import { serializeByKey } from '../in-process-queue.ts';
import { subjectFor } from '../rate-limits/throttles.ts';
import { branchProtection } from '../refs/protection.ts';
import { defaultBranchName } from '../repository/default-branch-name.ts';
import { identityOf } from '../repository/identity.ts';
import { blob, codeOf } from '../repository/read.ts';
import { lostRef, retryOnConflict } from '../retry-on-conflict.ts';
import { authorsOf } from './authors.ts';
import { changelogConfig } from './config.ts';
import { changelogEntries } from './entries.ts';
import { changelogFailure } from './failure.ts';
import { previousRelease } from './previous-tag.ts';
import { releaseSection, withSection } from './section.ts';
import { parseVersion, type Version } from './version.ts';

export interface ChangelogRequest {
  readonly version: string;
  /** Revision; excluded from the range. Default: the last stable release before the version. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** Default: now. */
  readonly date?: Date | undefined;
  readonly trailer: string;
  readonly configFile: string;
  /** The project's URL, the base of links. */
  readonly projectUrl: string;
  /** Client address, by which anonymous requests are counted. */
  readonly sourceIp: string;
}

export interface ChangelogCommit {
  readonly branch?: string | undefined;
  readonly file: string;
  readonly message?: string | undefined;
}

/** Per project and user, or address of an anonymous caller. */
const LIMIT: RateLimit = { kind: 'changelog', limit: 5, seconds: 60 };
const QUEUE_TIMEOUT_MS = 8000;

/**
 * Returns the section of a release, in Markdown. Writes nothing.
 * @throws 422 with the reason if it cannot be generated, 429 for more than five a minute
 */
export async function changelogNotes(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  request: ChangelogRequest,
): Promise<string> {
  await requireRequestRate(deps, actor, access, request);
  return generate(deps, access, request, 'HEAD');
}

/**
 * Commits the section of a release to the changelog of a branch, unless there is one of that version.
 * @throws 403 without the right to push; 400 for a file that cannot be written; as {@link changelogNotes}
 */
export async function addToChangelog(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  request: ChangelogRequest,
  { branch: given, file, message = `Add changelog for version ${request.version}` }: ChangelogCommit,
): Promise<void> {
  const name = given || (access.project.defaultBranch ?? (await defaultBranchName(deps)));
  const branch = branchRef(name);
  const refuse = () => forbidden('You are not allowed to commit a changelog on this branch');
  if (!can(actor, access, 'push_code')) throw refuse();
  const protection = await branchProtection(deps, access, actor);
  if (branch === undefined || !protection.mayPush(actor, name)) throw refuse();
  if (message.trim() === '') throw refused('You must provide a commit message');
  await requireRequestRate(deps, actor, access, request);
  const section = await generate(deps, access, request, branch);
  const version = parseVersion(request.version)!;
  const committer = identityOf(signedIn(actor).user, deps.now());

  const attempt = async (): Promise<void> => {
    const git = codeOf(deps, access, actor);
    const tip = (await git.ref(branch))?.oid;
    if (tip === undefined) throw changelogFailure(`there is no branch ${name}`);
    const content = await contentWith(git, tip, file, version, section);
    if (content === undefined) return;
    const isOwned = protection.asksOwnersOf(actor, name);
    const owned = isOwned && (await ownedChangeRefusal(git, tip, { paths: [file] }));
    if (owned) throw forbidden(owned);
    const start = { branch, expected: tip, parent: tip, ...(isOwned ? { reads: OWNERS_PATHS } : {}) };
    await git.commitChanges({
      ...start,
      actions: [{ ...content, path: file }],
      author: committer,
      committer,
      message,
    });
  };
  try {
    await serializeByKey(`${access.project.repositoryId} ${branch}`, QUEUE_TIMEOUT_MS, () =>
      retryOnConflict(attempt, lostRef),
    );
  } catch (error) {
    throw writeRefusal(error, name);
  }
}

async function requireRequestRate(
  deps: Deps,
  actor: Actor,
  { project }: ProjectAccess,
  { sourceIp }: ChangelogRequest,
): Promise<void> {
  const caller = subjectFor(actor, sourceIp);
  if (await deps.store.rateLimits.take(LIMIT, `${project.id} ${caller}`, deps.now())) return;
  throw tooManyRequests('This changelog has been requested too many times. Try again later.');
}

async function generate(
  deps: Deps,
  access: ProjectAccess,
  request: ChangelogRequest,
  tip: RefName | 'HEAD',
): Promise<string> {
  const { project } = access;
  const git = codeOf(deps, access);
  const version = parseVersion(request.version);
  if (version === undefined)
    throw changelogFailure(
      'The requested `version` attribute format is not correct. Use formats such as `1.0.0` or `v1.0.0`.',
    );
  const config = await changelogConfig(git, request.configFile);
  const from = request.from
    ? await commitOf(git, request.from)
    : await previousRelease(git, version, config.tagPattern);
  const to = await commitOf(git, request.to || tip);
  const entries = await changelogEntries(git, { from, to }, request.trailer);
  return releaseSection({
    version: request.version,
    date: request.date ?? deps.now(),
    config,
    entries,
    authors: await authorsOf(deps, project, entries),
    projectPath: project.fullPath,
    projectUrl: request.projectUrl,
  });
}

async function commitOf(git: GitRepository, revision: string): Promise<Oid> {
  const found = await git.resolve(revision);
  if (found === undefined) throw changelogFailure(`there is no commit ${revision.slice(0, 255)}`);
  return found.commit;
}

/** The changelog with the section added; undefined if it has a section of that version. */
async function contentWith(
  git: GitRepository,
  tip: Oid,
  file: string,
  version: Version,
  section: string,
): Promise<{ action: 'create' | 'update'; content: Uint8Array } | undefined> {
  const entry = await git.entryAt(tip, file);
  // If the path is a directory, the commit will be refused.
  const data = entry?.type === 'blob' ? await blob(git, entry.id) : undefined;
  const text = data === undefined ? '' : Buffer.from(data).toString('latin1');
  const changed = withSection(text, version, section);
  if (changed === undefined) return undefined;
  return { action: entry === undefined ? 'create' : 'update', content: Buffer.from(changed, 'latin1') };
}

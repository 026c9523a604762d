/** Snippets of users and projects. */

import type { EditAction } from '../../git/edit.ts';
import { NothingToCommit } from '../../git/edit-errors.ts';
import { type Oid, ZERO_OID } from '../../git/oid.ts';
import { RefConflict } from '../../git/ports.ts';
import { branchRef } from '../../git/refname.ts';
import type { GitRepository } from '../../git/repository.ts';
import { snapshotOf } from '../../records/authors.ts';
import {
  MAX_SNIPPET_DESCRIPTION,
  MAX_SNIPPET_FILES,
  ownerOfSnippet,
  type SnippetRecord,
} from '../../records/snippets.ts';
import type { UserRecord } from '../../records/users.ts';
import { VISIBILITIES, type Visibility } from '../../records/visibility.ts';
import { Missing, Stale, TransactionRefused } from '../../store/errors.ts';
import { sweptUnlessBegun } from '../../store/repository/lazy-removal.ts';
import type { SnippetAgent, SnippetChange } from '../../store/snippets/snippets.ts';
import type { Page, PageRequest } from '../../store/table/paging.ts';
import { defaultVisibility, restrictionProblems } from '../access/instance-visibility.ts';
import { signedIn } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import { listedVisibilities } from '../access/visible-snippets.ts';
import { type Actor, isAdministrator } from '../actor.ts';
import { writeRefusal } from '../commits/actions.ts';
import type { Deps } from '../deps.ts';
import { conflict, DomainError, forbidden, invalid, notFound, unauthorized } from '../errors.ts';
import { pageByCursor } from '../page-by-cursor.ts';
import { newStorage } from '../repository/choose-storage.ts';
import { defaultBranchName } from '../repository/default-branch-name.ts';
import { identityOf } from '../repository/identity.ts';
import { openBlob } from '../repository/read.ts';
import { lostRef, retryOnConflict } from '../retry-on-conflict.ts';
import { type FoundSnippet, findSnippet, requireChange, requireCreate } from './access.ts';
import { gitOf, refusedSnippet, sizeProblem, TOO_MANY } from './content.ts';
import { editsOf, editsOfSingle, type FileChange, type SingleFile } from './edits.ts';

const MAX_TITLE = 255;

/** A snippet with what an answer shows beside it. */
export interface ShownSnippet extends FoundSnippet {
  /** Undefined if the account was deleted. */
  readonly author: UserRecord | undefined;
}

export interface SnippetListRequest extends PageRequest {
  /** Of the page before. */
  readonly cursor?: string;
}

export type SnippetPage = Page<ShownSnippet> & { readonly next?: string };

/** Lists the caller's personal snippets, the newest first. @throws 400 for a cursor of another list */
export async function listOwnSnippets(
  deps: Deps,
  actor: Actor,
  { cursor, ...request }: SnippetListRequest,
): Promise<SnippetPage> {
  const owner = { kind: 'user', id: signedIn(actor).user.id } as const;
  const page = await pageByCursor(['snippets', owner], { cursor }, (after) =>
    deps.store.snippets.page(owner, VISIBILITIES, { ...request, ...after }),
  );
  return shownPage(deps, page);
}

/** Lists the personal snippets that everybody sees, the newest first. @throws 400 for a cursor of another list */
export async function listPublicSnippets(
  deps: Deps,
  { cursor, ...request }: SnippetListRequest,
): Promise<SnippetPage> {
  const page = await pageByCursor(['snippets', 'public'], { cursor }, (after) =>
    deps.store.snippets.publicPage({ ...request, ...after }),
  );
  return shownPage(deps, page);
}

/** Lists the snippets of a project that the caller sees, the newest first. @throws 400 for a cursor of another list */
export async function listProjectSnippets(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  { cursor, ...request }: SnippetListRequest,
): Promise<SnippetPage> {
  const owner = { kind: 'project', id: access.project.id } as const;
  const visibilities = listedVisibilities(actor, access);
  const page = await pageByCursor(['snippets', owner, visibilities], { cursor }, (after) =>
    deps.store.snippets.page(owner, visibilities, { ...request, ...after }),
  );
  return shownPage(deps, page, access);
}

/** @throws `404 Snippet Not Found`, in a project `404 Not found` */
export const getSnippet = async (
  deps: Deps,
  actor: Actor,
  access: ProjectAccess | undefined,
  id: number,
): Promise<ShownSnippet> => shown(deps, await findSnippet(deps, actor, access, id));

async function shownPage(
  deps: Deps,
  page: Page<SnippetRecord> & { readonly next?: string },
  access?: ProjectAccess,
): Promise<SnippetPage> {
  const ids = [...new Set(page.items.map(({ author }) => author.id))];
  const users = ids.length === 0 ? [] : await deps.store.users.getMany(ids);
  const authors = new Map(ids.map((id, i) => [id, users[i]]));
  const items = page.items.map((snippet) => ({
    snippet,
    author: authors.get(snippet.author.id),
    ...(access && { access }),
  }));
  return { ...page, items };
}

async function shown(deps: Deps, found: FoundSnippet): Promise<ShownSnippet> {
  return { ...found, author: await deps.store.users.get(found.snippet.author.id) };
}

export interface SnippetInput {
  readonly title?: string | undefined;
  readonly description?: string | null | undefined;
  readonly visibility?: Visibility | undefined;
}

/**
 * Creates a snippet with its first commit, in one transaction.
 * @throws 401, 403; 400 by field, or with the reason why the files cannot be
 */
export async function createSnippet(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess | undefined,
  input: SnippetInput & {
    readonly title: string;
    readonly files: readonly { readonly path: string; readonly content: string }[];
  },
): Promise<ShownSnippet> {
  requireCreate(actor, access);
  const { user } = signedIn(actor);
  await requireValid(deps, actor, input);
  const edits = editsOf(input.files.map((file) => ({ action: 'create', ...file })));
  await requireFiles(deps, edits);
  const [id, branch, storage, visibility] = await Promise.all([
    deps.store.snippets.nextId(),
    defaultBranchName(deps),
    newStorage(deps),
    input.visibility ?? defaultVisibility(deps, actor, 'snippet'),
  ]);
  const at = deps.now().toISOString();
  let snippet: SnippetRecord = {
    id,
    projectId: access?.project.id ?? null,
    title: input.title.trim(),
    description: input.description ?? null,
    visibility,
    author: snapshotOf(user),
    branch,
    ...storage,
    files: [],
    createdAt: at,
    updatedAt: at,
    version: 1,
  };
  const { before, begun } = sweptUnlessBegun(
    { kind: 'snippet', id },
    storage.storagePrefix ?? '',
    deps.now(),
  );
  const searchable = deps.store.snippets.searchable(snippet);
  const alongside = (files: readonly string[]) => {
    snippet = { ...snippet, files };
    return [...deps.store.snippets.creation(snippet, agentOf(actor)), ...searchable.writes, begun];
  };
  const git = gitOf(deps, snippet, alongside, searchable.messages);
  await deps.store.table.put(before);
  try {
    await commit(deps, git, user, { branch, edits, parent: undefined, message: 'Initial commit' });
  } catch (error) {
    throw refusalOf(error, snippet);
  }
  return { snippet, author: user, ...(access && { access }) };
}

const agentOf = ({ origin }: Actor): SnippetAgent | undefined =>
  origin?.address === undefined || origin.userAgent === undefined
    ? undefined
    : { address: origin.address, userAgent: origin.userAgent };

export interface SnippetUpdate extends SnippetInput, SingleFile {
  readonly files?: readonly FileChange[] | undefined;
}

/**
 * Changes a snippet, and its files by a commit in the same transaction.
 * @throws as {@link getSnippet} and {@link createSnippet}; 409 when others keep changing it
 */
export async function updateSnippet(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess | undefined,
  id: number,
  input: SnippetUpdate,
): Promise<ShownSnippet> {
  const attempt = async (): Promise<ShownSnippet> => {
    const found = await findSnippet(deps, actor, access, id);
    requireChange(actor, found);
    const before = found.snippet;
    await requireValid(deps, actor, input);
    const edits = input.files === undefined ? editsOfSingle(before, input) : editsOf(input.files);
    if (edits.length > 0) await requireFiles(deps, edits);
    const change: SnippetChange = {
      ...(input.title !== undefined && { title: input.title.trim() }),
      ...(input.description !== undefined && { description: input.description }),
      ...(input.visibility !== undefined && { visibility: input.visibility }),
    };
    const after = await written(deps, signedIn(actor).user, before, change, edits);
    return shown(deps, { ...found, snippet: after });
  };
  return retryOnConflict(attempt, isStale).catch((error: unknown) => {
    throw isStale(error) ? conflict('409 Conflict: Resource lock') : error;
  });
}

async function written(
  deps: Deps,
  user: UserRecord,
  before: SnippetRecord,
  change: SnippetChange,
  edits: readonly EditAction[],
): Promise<SnippetRecord> {
  const { snippets } = deps.store;
  const { branch } = before;
  if (edits.length > 0) {
    const now = deps.now();
    let after: SnippetRecord | undefined;
    try {
      await snippets.retitled(before, change, async (rows, messages) => {
        const alongside = (files: readonly string[]) => {
          after = snippets.after(before, { ...change, files }, now);
          return [...snippets.changing(before, { ...change, files }, now), ...rows];
        };
        const git = gitOf(deps, before, alongside, messages);
        const parent = (await git.ref(branchRef(branch)!))?.oid;
        await commit(deps, git, user, { branch, edits, parent, message: 'Update snippet' });
      });
      return after!;
    } catch (error) {
      if (!(error instanceof NothingToCommit)) throw refusalOf(error, before);
    }
  }
  return Object.keys(change).length === 0 ? before : snippets.change(before, change, deps.now());
}

/** @param parent the tip of the branch; undefined: there is none */
function commit(
  deps: Deps,
  git: GitRepository,
  user: UserRecord,
  made: {
    readonly branch: string;
    readonly edits: readonly EditAction[];
    readonly parent: Oid | undefined;
    readonly message: string;
  },
) {
  const { branch, edits, parent, message } = made;
  const author = identityOf(user, deps.now());
  return git.commitChanges({
    branch: branchRef(branch)!,
    expected: parent ?? ZERO_OID,
    ...(parent !== undefined && { parent }),
    actions: edits,
    author,
    committer: author,
    message,
    // What it was applied to is read again with the record.
    retry: { attempts: 1 },
  });
}

/** Deletes a snippet; its notes and its repository go in the background. @throws as {@link getSnippet}; 401, 403, 409, 412 */
export async function deleteSnippet(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess | undefined,
  id: number,
  unmodifiedSince: (changed: string) => void,
): Promise<void> {
  const attempt = async () => {
    const found = await findSnippet(deps, actor, access, id);
    requireChange(actor, found);
    const { snippet } = found;
    unmodifiedSince(snippet.updatedAt);
    await deps.store.snippets.remove(snippet, deps.now());
  };
  await retryOnConflict(attempt, isStale).catch((error: unknown) => {
    throw isStale(error) ? conflict('409 Conflict: Resource lock') : error;
  });
}

/** With what program and from where it was created, for administrators. @throws 401, 403, 404 */
export async function snippetAgent(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess | undefined,
  id: number,
): Promise<SnippetAgent> {
  if (!isAdministrator(actor)) throw actor.kind === 'anonymous' ? unauthorized() : forbidden();
  await findSnippet(deps, actor, access, id);
  const agent = await deps.store.snippets.agent(id);
  if (agent === undefined) throw notFound('UserAgentDetail');
  return agent;
}

/** A file to be sent once. */
export interface SnippetFile {
  readonly name: string;
  readonly content: Uint8Array | AsyncIterable<Uint8Array>;
}

/**
 * Opens a file of a snippet that the caller may see.
 * @param at a branch, tag or commit and the path; absent: the first file on the default branch
 * @throws `404 Reference Not Found`, `404 File Not Found`
 */
export async function openSnippetFile(
  deps: Deps,
  { snippet }: FoundSnippet,
  at?: { readonly ref: string; readonly path: string },
): Promise<SnippetFile> {
  const path = at?.path ?? snippet.files[0];
  if (path === undefined) throw notFound('File');
  const git = gitOf(deps, snippet);
  const found = await git.resolve(at?.ref ?? snippet.branch);
  if (found === undefined) throw notFound('Reference');
  const entry = await git.entryAt(found.commit, path);
  const blob = entry?.type === 'blob' ? await openBlob(git, entry.id) : undefined;
  if (blob === undefined) throw notFound('File');
  return { name: entry!.name, content: blob.content };
}

/** @throws 400 by field */
async function requireValid(
  deps: Deps,
  actor: Actor,
  { title, description, visibility }: SnippetInput,
): Promise<void> {
  const problems: Record<string, string[]> = {};
  const tooLong = (limit: number) => `is too long (maximum is ${limit} characters)`;
  if (title !== undefined && title.trim() === '') problems['title'] = ["can't be blank"];
  else if ([...(title ?? '')].length > MAX_TITLE) problems['title'] = [tooLong(MAX_TITLE)];
  if ((description ?? '').length > MAX_SNIPPET_DESCRIPTION)
    problems['description'] = [tooLong(MAX_SNIPPET_DESCRIPTION)];
  const restricted = visibility === undefined ? [] : await restrictionProblems(deps, actor, visibility);
  if (restricted.length > 0) problems['visibility_level'] = restricted;
  if (Object.keys(problems).length > 0) throw invalid(problems);
}

/** What can be told before the files are written. @throws 400 */
async function requireFiles(deps: Deps, edits: readonly EditAction[]): Promise<void> {
  if (edits.length > MAX_SNIPPET_FILES) throw refusedSnippet(TOO_MANY);
  const sizes = edits.map((edit) => ('content' in edit ? (edit.content?.length ?? 0) : 0));
  const problem = await sizeProblem(deps, sizes);
  if (problem !== undefined) throw refusedSnippet(problem);
}

/** Translates errors of a write of files. */
function refusalOf(error: unknown, { branch, projectId, author }: SnippetRecord): unknown {
  if (error instanceof TransactionRefused) {
    const { kind } = ownerOfSnippet({ projectId, author });
    if (error.has(kind)) return kind === 'project' ? notFound('Project') : unauthorized();
    if (error.has('snippet')) return new Stale('snippet');
  }
  if (lostRef(error)) return error;
  if (error instanceof RefConflict && error.rejections.some(({ reason }) => reason === 'deleted'))
    return new Stale('snippet');
  const refusal = writeRefusal(error, branch);
  if (refusal instanceof DomainError && refusal.code === 'bad-request') return refusedSnippet(refusal.text);
  return refusal;
}

const isStale = (error: unknown): boolean =>
  error instanceof Stale || error instanceof Missing || lostRef(error);

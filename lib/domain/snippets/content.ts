/** The files of snippets, in a repository of their own that begins with the snippet. */

import type { ObjectStore } from '../../git/objects.ts';
import { type Oid, ZERO_OID } from '../../git/oid.ts';
import { parseCommitLinks } from '../../git/parse.ts';
import { branchRef } from '../../git/refname.ts';
import { GitRepository } from '../../git/repository.ts';
import { listTree } from '../../git/tree.ts';
import { repositoryIdOf } from '../../records/repository-owner.ts';
import { MAX_SNIPPET_FILES, type SnippetRecord } from '../../records/snippets.ts';
import type { OutboxMessage } from '../../store/outbox/outbox.ts';
import type { Write } from '../../store/table/write.ts';
import type { Deps } from '../deps.ts';
import { DomainError } from '../errors.ts';
import { openLazyRepository } from '../repository/lazy.ts';
import type { ProjectRepository } from '../repository/open.ts';

/** Bytes of the path of a file: the record has them all. */
const MAX_PATH = 1_000;
/** Files and directories that are looked at: each directory is on the way to a file, unless somebody means harm. */
const MAX_ENTRIES = 200;

/** 400 with the text one level deeper: the API's form for what a snippet cannot be. */
export const refusedSnippet = (error: string) => new DomainError('bad-request', { error });

/**
 * Opens the repository of a snippet for one request. Reads nothing itself.
 * @param alongside the writes about the record, given the paths of the files that it has then; they are refused as
 *   `snippet` where the snippet is deleted
 * @param messages for the same transaction
 */
export function openSnippet(
  deps: Deps,
  {
    id,
    projectId,
    branch,
    storagePrefix,
  }: Pick<SnippetRecord, 'id' | 'projectId' | 'branch' | 'storagePrefix'>,
  alongside: (files: readonly string[]) => readonly Write[] = (files) => [
    deps.store.snippets.pushed(id, files, deps.now()),
  ],
  messages: readonly OutboxMessage[] = [],
): ProjectRepository {
  return openLazyRepository(
    deps,
    { kind: 'snippet', id },
    {
      storagePrefix,
      ownerReason: 'snippet',
      alongside: async (updates, { objects }) => {
        const update = updates.find(({ name }) => name === branchRef(branch));
        if (update === undefined || update.to === ZERO_OID || objects === undefined)
          return { writes: [deps.store.snippets.stays(id)] };
        const files = await filesOf(deps, objects, update.to);
        const measuring = deps.store.snippets.measuring({ id, projectId });
        return { writes: alongside(files), messages: [...messages, ...measuring] };
      },
    },
  );
}

/** The same, with the history cache of the process. */
export const gitOf = (
  deps: Deps,
  snippet: SnippetRecord,
  alongside?: Parameters<typeof openSnippet>[2],
  messages?: readonly OutboxMessage[],
) =>
  new GitRepository(
    openSnippet(deps, snippet, alongside, messages),
    deps.histories.of(repositoryIdOf({ kind: 'snippet', id: snippet.id })),
  );

/** Returns the paths of the files of a commit. @throws 400 where a snippet cannot have them */
async function filesOf(deps: Deps, objects: ObjectStore, commit: Oid): Promise<readonly string[]> {
  const { files, problem } = await contentOf(deps, objects, commit);
  if (problem !== undefined) throw refusedSnippet(problem);
  return files;
}

export interface SnippetContent {
  /** Paths in the order of git. */
  readonly files: readonly string[];
  /** Why a snippet cannot have them, in one line. */
  readonly problem?: string;
}

/** Looks at the files of a commit. @param objects also those that are not stored yet */
export async function contentOf(deps: Deps, objects: ObjectStore, commit: Oid): Promise<SnippetContent> {
  const tree = await objects.run((each) => parseCommitLinks(each.read(commit).data).tree);
  const listing = { recursive: true, limit: MAX_ENTRIES, countUpTo: 0 };
  const page = await listTree(objects, tree, listing);
  const entries = page?.entries ?? [];
  const blobs = entries.filter(({ type }) => type === 'blob');
  const files = blobs.map(({ path }) => path);
  if (entries.some(({ type }) => type === 'commit')) return { files, problem: 'Submodules are not allowed' };
  if (files.length > MAX_SNIPPET_FILES || page?.next !== undefined)
    return { files: files.slice(0, MAX_SNIPPET_FILES), problem: TOO_MANY };
  if (files.length === 0) return { files, problem: 'A snippet must have at least one file' };
  if (files.some((path) => Buffer.byteLength(path) > MAX_PATH))
    return { files, problem: `A file path is longer than ${MAX_PATH} bytes` };
  const sizes = await objects.run((each) => blobs.map(({ id }) => each.header(id).size));
  const problem = await sizeProblem(deps, sizes);
  return { files, ...(problem !== undefined && { problem }) };
}

/** Why a snippet cannot have files of these sizes, in bytes. */
export async function sizeProblem({ settings }: Deps, sizes: readonly number[]): Promise<string | undefined> {
  const { snippet_size_limit: limit } = await settings.current();
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  return bytes > limit
    ? `Content is too long (${bytes} Bytes). The maximum size is ${limit} Bytes.`
    : undefined;
}

export const TOO_MANY = `Snippet files count must be less than or equal to ${MAX_SNIPPET_FILES}`;

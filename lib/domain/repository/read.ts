import { createHash } from 'node:crypto';
import { HistoryLimit } from '../../git/history.ts';
import type { Oid } from '../../git/oid.ts';
import { type CommitRecord, GitRepository, type LogRequest } from '../../git/repository.ts';
import type { Resolved } from '../../git/revision.ts';
import { type TreeListing, type TreePage, type TreeRecord, UnknownPageToken } from '../../git/tree.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { Download } from '../../store/blobs/downloads.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Deps } from '../deps.ts';
import { badRequest, notFound, tooLarge } from '../errors.ts';
import { largeBlob } from './downloads.ts';
import { openRepository, type Pusher, type Together } from './open.ts';

/**
 * Opens the repository of a project for one request, with the history cache of the process.
 * @param pusher the author of the push events of writes
 * @param together what is written if and only if refs move
 */
export function codeOf(
  deps: Deps,
  { project, prefetched, hidesProposals }: ProjectAccess,
  pusher?: Pusher,
  together?: Together,
): GitRepository {
  const repository = openRepository(deps, project, { prefetched, pusher, hidesProposals });
  return new GitRepository(
    together === undefined ? repository : repository.together(together),
    deps.histories.of(project.repositoryId),
  );
}

/**
 * Resolves a branch, tag, ID or `HEAD` to a commit.
 * @param what the noun in the error: `404 <what> Not Found`
 */
export async function resolved(git: GitRepository, ref: string, what = 'Commit'): Promise<Resolved> {
  const found = await git.resolve(ref);
  if (found === undefined) throw notFound(what);
  return found;
}

/** The metadata of a file. */
export interface FileFacts {
  readonly entry: TreeRecord;
  readonly commit: Oid;
  readonly lastCommit: Oid;
  /** Bytes. */
  readonly size: number;
}

export interface FileRecord extends FileFacts {
  readonly data: Uint8Array;
}

/** A file of any size with its digest. */
export interface FileDigest extends FileFacts {
  /** SHA-256 of the content, in hex. */
  readonly sha256: string;
}

/** A project and its opened repository. */
interface CodeOf {
  readonly project: ProjectRecord;
  readonly git: GitRepository;
}

/** Content to be read once, or to be ended: it may hold memory. */
type Content = Uint8Array | AsyncIterable<Uint8Array>;

/** A file of any size with its content. */
export interface OpenFile extends FileFacts {
  /** Absent where a copy serves the content, because nothing has read it. */
  readonly sha256?: string;
  readonly content: Download | { readonly body: Content };
}

/** Maximum size of content that is buffered, for responses in JSON and processing by line. */
const MAX_BUFFERED_MIB = 32;
/** Content up to this size is always buffered: one read serves its digest and the response. */
const BUFFERED_BYTES = 4 * 2 ** 20;

/** @throws `404 Commit Not Found`, `404 File Not Found`; 413 for a file above {@link MAX_BUFFERED_MIB} */
export async function readFile(git: GitRepository, ref: string, path: string): Promise<FileRecord> {
  const found = await findFile(git, ref, path, (oid) => blob(git, oid));
  if (found.content === undefined) throw notFound('File');
  return { ...found.facts, size: found.content.length, data: found.content };
}

/** @throws `404 Commit Not Found`, `404 File Not Found`; 413 for a file whose copy takes too long */
export async function openFile(
  deps: Deps,
  { project, git }: CodeOf,
  ref: string,
  path: string,
): Promise<OpenFile> {
  const { facts, content: found } = await findFile(git, ref, path, async (oid) => {
    const copy = await largeBlob(deps, project, git, oid);
    if (copy !== undefined) return { size: (await git.blobHeader(oid))!.size, content: copy };
    const blob = await digestBlob(git, oid);
    return blob && { size: blob.size, sha256: blob.sha256, content: { body: blob.content } };
  });
  if (found === undefined) throw notFound('File');
  return { ...facts, ...found };
}

/** As {@link openFile}, for a caller that does not need the content. */
export async function digestFile(git: GitRepository, ref: string, path: string): Promise<FileDigest> {
  const { facts, content: found } = await findFile(git, ref, path, (oid) => openBlob(git, oid));
  if (found === undefined) throw notFound('File');
  const { size, content } = found;
  const sha = createHash('sha256');
  if (content instanceof Uint8Array) sha.update(content);
  else for await (const bytes of content) sha.update(bytes);
  return { ...facts, size, sha256: sha.digest('hex') };
}

/** A blob of any size with its digest. Above {@link BUFFERED_BYTES} its part of the pack is held instead of the content. */
async function digestBlob(
  git: GitRepository,
  oid: Oid,
): Promise<{ readonly size: number; readonly sha256: string; readonly content: Content } | undefined> {
  const header = await git.blobHeader(oid);
  if (header === undefined || header.size > BUFFERED_BYTES) return git.digestBlob(oid);
  const data = await git.readBlob(oid);
  return (
    data && { size: data.length, sha256: createHash('sha256').update(data).digest('hex'), content: data }
  );
}

async function findFile<T>(git: GitRepository, ref: string, path: string, read: (oid: Oid) => Promise<T>) {
  const { commit } = await resolved(git, ref);
  const entry = await git.entryAt(commit, path);
  if (entry?.type !== 'blob') throw notFound('File');
  const [content, lastCommit] = await Promise.all([
    read(entry.id),
    bounded(() => git.lastCommitForPath(commit, path)),
  ]);
  return { facts: { entry, commit, lastCommit: lastCommit ?? commit }, content };
}

/**
 * @param allow called with the size in bytes before the blob is read; throws to refuse it
 * @throws 413 for a blob above {@link MAX_BUFFERED_MIB}
 */
export async function blob(
  git: GitRepository,
  oid: Oid,
  allow?: (size: number) => Promise<void>,
): Promise<Uint8Array | undefined> {
  const header = await git.blobHeader(oid);
  if (header === undefined) return undefined;
  await allow?.(header.size);
  if (header.size > MAX_BUFFERED_MIB * 2 ** 20) {
    throw tooLarge(
      `413 Request Entity Too Large: a file of more than ${MAX_BUFFERED_MIB} MiB is served raw only`,
    );
  }
  return git.readBlob(oid);
}

/** A blob of any size, to be read once. @param allow as for `blob` */
export async function openBlob(
  git: GitRepository,
  oid: Oid,
  allow?: (size: number) => Promise<void>,
): Promise<{ readonly size: number; readonly content: Content } | undefined> {
  const header = await git.blobHeader(oid);
  if (header !== undefined) await allow?.(header.size);
  if (header === undefined || header.size > BUFFERED_BYTES) return git.streamBlob(oid);
  const data = await git.readBlob(oid);
  return data && { size: data.length, content: data };
}

/**
 * A blob of any size, for a response: its content, or its copy in the bucket. @param allow as for `blob`
 * @throws 413 for a blob whose copy takes too long
 */
export async function blobDownload(
  deps: Deps,
  { project, git }: CodeOf,
  oid: Oid,
  allow: (size: number) => Promise<void>,
): Promise<Download | { readonly body: Content } | undefined> {
  const header = await git.blobHeader(oid);
  if (header === undefined) return undefined;
  await allow(header.size);
  const copy = await largeBlob(deps, project, git, oid);
  if (copy !== undefined) return copy;
  const found = await openBlob(git, oid);
  return found && { body: found.content };
}

/** @throws `404 Tree Not Found`, `404 invalid revision or path Not Found`, 400 for a page token of another list */
export async function listDirectory(
  git: GitRepository,
  ref: string,
  listing: TreeListing,
): Promise<TreePage> {
  const { commit } = await resolved(git, ref, 'Tree');
  try {
    const page = await git.listTree(commit, listing);
    if (page === undefined) throw notFound('invalid revision or path');
    return page;
  } catch (error) {
    throw error instanceof UnknownPageToken ? badRequest('page_token is invalid') : error;
  }
}

export interface CommitQuery {
  /** A branch, tag or ID, or a range `a..b` or `a...b`. Default: HEAD. */
  readonly refName?: string | undefined;
  readonly all: boolean;
  readonly path?: string | undefined;
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
  readonly firstParent: boolean;
  readonly topological: boolean;
  readonly skip: number;
  readonly limit: number;
}

/** Returns a page of history; empty for an unknown ref. */
export async function listCommits(git: GitRepository, query: CommitQuery): Promise<CommitRecord[]> {
  const tips = await tipsOf(git, query);
  if (tips === undefined || tips.tips.length === 0) return [];
  const seconds = (date: Date | undefined, name: 'since' | 'until') =>
    date === undefined ? {} : { [name]: Math.floor(date.getTime() / 1000) };
  return bounded(() =>
    git.log({
      ...tips,
      firstParent: query.firstParent,
      order: query.topological ? 'topo' : 'date',
      skip: query.skip,
      limit: query.limit,
      ...seconds(query.since, 'since'),
      ...seconds(query.until, 'until'),
      ...(query.path === undefined ? {} : { path: query.path }),
    }),
  );
}

const RANGE = /^(.*?)(\.\.\.?)(.*)$/;

/** The ends of a range `a..b` or `a...b`, or the name itself if it is no range. */
export function rangeEnds(refName = 'HEAD'): readonly string[] {
  const range = RANGE.exec(refName);
  return range === null ? [refName] : [range[1] || 'HEAD', range[3] || 'HEAD'];
}

async function tipsOf(
  git: GitRepository,
  query: CommitQuery,
): Promise<Pick<LogRequest, 'tips' | 'exclude'> | undefined> {
  if (query.all) {
    const [branches, tags] = await Promise.all([git.branches(), git.tags()]);
    const tips = await git.tips([...branches.refs, ...tags.refs]);
    return { tips: tips.map((tip) => tip.commit.oid) };
  }
  const [from, to] = await Promise.all(rangeEnds(query.refName).map((end) => git.resolve(end)));
  const range = RANGE.exec(query.refName ?? '');
  if (range === null) return from && { tips: [from.commit] };
  if (from === undefined || to === undefined) return undefined;
  if (range[2] === '..') return { tips: [to.commit], exclude: [from.commit] };
  const bases = await bounded(() => git.history.mergeBases(from.commit, [to.commit]));
  return { tips: [from.commit, to.commit], exclude: bases.map((base) => base.oid) };
}

/** Translates an exceeded limit of a history walk into 400. */
export async function bounded<T>(walk: () => Promise<T>): Promise<T> {
  try {
    return await walk();
  } catch (error) {
    if (error instanceof HistoryLimit)
      throw badRequest('the history is too long for this request: narrow it');
    throw error;
  }
}

/** Pages of wikis: each is a file of the wiki's default branch. */
import { dirname } from 'node:path/posix';
import type { EditAction } from '../../git/edit.ts';
import { EditError, NothingToCommit, UnsoundObjects } from '../../git/edit-errors.ts';
import { type Oid, ZERO_OID } from '../../git/oid.ts';
import { RefConflict } from '../../git/ports.ts';
import { branchRef, shortName } from '../../git/refname.ts';
import type { GitRepository } from '../../git/repository.ts';
import type { TreeRecord } from '../../git/tree.ts';
import { signedIn } from '../access/permissions.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { conflict, invalid, notFound, refused, tooLarge } from '../errors.ts';
import { refConflictError } from '../repository/conflicts.ts';
import { identityOf } from '../repository/identity.ts';
import { blob, openBlob } from '../repository/read.ts';
import { requireInWiki, type WikiOf } from './access.ts';
import { openWikiForWriting, wikiPages } from './open.ts';
import {
  fileOf,
  filesOf,
  type PageName,
  pageNameOf,
  slugOfTitle,
  slugsLike,
  type WikiFormat,
} from './page-names.ts';

export interface WikiPage extends PageName {
  /** Of its file. */
  readonly path: string;
  readonly oid: Oid;
}

export interface PageWithContent extends WikiPage {
  readonly content: string;
}

/** A page of any size. */
export interface PageWithText extends WikiPage {
  readonly text: PageText;
}

/** Whole, or in pieces where it is long: to be read once. */
export type PageText = string | AsyncIterable<string>;

/** Files of a wiki that are looked at for its list of pages. */
const MAX_FILES = 20_000;
/** Files of a directory that are compared with the name of a new page. */
const MAX_NEIGHBOURS = 5_000;
/** Bytes of content in one answer. */
const MAX_LISTED_BYTES = 32 * 2 ** 20;

const MISSING = 'Wiki Page';
const DUPLICATE = { base: ['Duplicate page: A page with that title already exists'] };

const pageOf = ({ path, id, type, mode }: TreeRecord): WikiPage[] => {
  // Symbolic links lead anywhere.
  const name = type === 'blob' && mode !== '120000' ? pageNameOf(path) : undefined;
  return name === undefined ? [] : [{ ...name, path, oid: id }];
};

interface Pages {
  /** By slug. */
  readonly pages: readonly WikiPage[];
  /** Whether these are all: of a wiki with more than {@link MAX_FILES} files they are those among the first. */
  readonly complete: boolean;
}

/** The pages of the default branch. */
export async function listPages(deps: Deps, wiki: WikiOf): Promise<Pages> {
  const git = wikiPages(deps, wiki);
  const tip = await tipOf(git);
  if (tip === undefined) return { pages: [], complete: true };
  const page = await git.listTree(tip, { recursive: true, limit: MAX_FILES, countUpTo: MAX_FILES });
  const keyed = (page?.entries ?? []).flatMap(pageOf).map((each) => ({ each, key: each.slug.toLowerCase() }));
  keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return { pages: keyed.map(({ each }) => each), complete: page?.next === undefined };
}

/** @throws 413 if the pages are too large for one answer */
export async function withContent(
  deps: Deps,
  wiki: WikiOf,
  pages: readonly WikiPage[],
): Promise<PageWithContent[]> {
  const git = wikiPages(deps, wiki);
  let bytes = 0;
  const found: PageWithContent[] = [];
  for (const page of pages) {
    const data = await blob(git, page.oid, async (size) => {
      bytes += size;
      if (bytes > MAX_LISTED_BYTES)
        throw tooLarge('413 Request Entity Too Large: ask for fewer pages, or without their content');
    });
    if (data !== undefined) found.push({ ...page, content: textOf(data) });
  }
  return found;
}

/**
 * @param version a commit: the page as it was then. Default: the tip of the default branch
 * @throws `404 Wiki Page Not Found`
 */
export async function getPage(
  deps: Deps,
  wiki: WikiOf,
  slug: string,
  version?: string,
): Promise<PageWithText> {
  const git = wikiPages(deps, wiki);
  const commit = version ? (await git.resolve(version))?.commit : await tipOf(git);
  const page = commit === undefined ? undefined : await findPage(git, commit, slug);
  const found = page && (await openBlob(git, page.oid));
  if (page === undefined || found === undefined) throw notFound(MISSING);
  const { content } = found;
  return { ...page, text: content instanceof Uint8Array ? textOf(content) : textIn(content) };
}

/** Text that is not UTF-8 is shown with replacement characters. */
export const textOf = (data: Uint8Array): string => Buffer.from(data).toString('utf8');

/** Bytes of a piece of a long text. */
const PIECE_BYTES = 64 * 1024;

async function* textIn(content: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  for await (const bytes of content)
    for (let at = 0; at < bytes.length; at += PIECE_BYTES)
      yield decoder.decode(bytes.subarray(at, at + PIECE_BYTES), { stream: true });
  yield decoder.decode();
}

/** The beginning of a text. @param length in characters */
export async function beginningOf(text: PageText, length: number): Promise<string> {
  if (typeof text === 'string') return text.slice(0, length);
  let begun = '';
  for await (const piece of text) {
    begun += piece;
    if (begun.length >= length) break;
  }
  return begun.slice(0, length);
}

const tipOf = async (git: GitRepository): Promise<Oid | undefined> => (await git.headRef()).head?.oid;

async function findPage(git: GitRepository, commit: Oid, slug: string): Promise<WikiPage | undefined> {
  for (const like of slugsLike(slug)) {
    const found = await Promise.all(filesOf(like).map((path) => git.entryAt(commit, path)));
    const [page] = found.flatMap((entry) => (entry === undefined ? [] : pageOf(entry)));
    if (page !== undefined) return page;
  }
  return undefined;
}

export interface NewPage {
  readonly title: string;
  readonly content: string;
  readonly format: WikiFormat;
}

/** @throws 400 for a title that no page can have or another page has, or too much content; 409 */
export async function createPage(
  deps: Deps,
  actor: Actor,
  wiki: WikiOf,
  { title, content, format }: NewPage,
): Promise<PageWithText> {
  requireInWiki(actor, wiki, 'write_wiki');
  const slug = demandSlug(title);
  await demandContent(deps, content);
  await change(deps, actor, wiki, async (git, tip) => {
    if (tip !== undefined && (await isTaken(git, tip, slug))) throw invalid(DUPLICATE);
    const action = { action: 'create', path: fileOf(slug, format), content: Buffer.from(content) } as const;
    return { actions: [action], message: `created page: ${titleIn(slug)}` };
  });
  return getPage(deps, wiki, slug);
}

export type PageChange = Partial<NewPage>;

/** A new title or format moves the file. @throws 404; 400 and 409 as {@link createPage} */
export async function updatePage(
  deps: Deps,
  actor: Actor,
  wiki: WikiOf,
  slug: string,
  { title, content, format }: PageChange,
): Promise<PageWithText> {
  requireInWiki(actor, wiki, 'write_wiki');
  if (content !== undefined) await demandContent(deps, content);
  let renamed = slug;
  await change(deps, actor, wiki, async (git, tip) => {
    const page = tip && (await findPage(git, tip, slug));
    if (tip === undefined || page === undefined) throw notFound(MISSING);
    renamed = title === undefined || title === page.title ? page.slug : demandSlug(title, page.slug);
    const path =
      renamed === page.slug && (format ?? page.format) === page.format
        ? page.path
        : fileOf(renamed, format ?? page.format);
    if (renamed !== page.slug && (await isTaken(git, tip, renamed, page.path))) throw invalid(DUPLICATE);
    const given = content === undefined ? {} : { content: Buffer.from(content) };
    const message = `updated page: ${titleIn(renamed)}`;
    if (path !== page.path)
      return {
        actions: [{ action: 'move', path, from: page.path, ...given }],
        message,
        moved: [page.path, path],
      };
    return {
      actions: given.content === undefined ? [] : [{ action: 'update', path, content: given.content }],
      message,
    };
  });
  return getPage(deps, wiki, renamed);
}

/** @throws 403 below the level of those who delete pages, 404 */
export async function deletePage(deps: Deps, actor: Actor, wiki: WikiOf, slug: string): Promise<void> {
  requireInWiki(actor, wiki, 'delete_wiki_page');
  await change(deps, actor, wiki, async (git, tip) => {
    const page = tip && (await findPage(git, tip, slug));
    if (page === undefined) throw notFound(MISSING);
    return {
      actions: [{ action: 'delete', path: page.path }],
      message: `deleted page: ${titleIn(page.slug)}`,
    };
  });
}

/** Adds a file to a branch of the wiki. @returns the branch @throws 400 for a branch that does not exist; 409 */
export async function addFile(
  deps: Deps,
  actor: Actor,
  wiki: WikiOf,
  {
    path,
    bytes,
    branch,
  }: { readonly path: string; readonly bytes: Uint8Array; readonly branch?: string | undefined },
): Promise<string> {
  requireInWiki(actor, wiki, 'write_wiki');
  const action = { action: 'create', path, content: bytes } as const;
  const message = `uploaded ${path.slice(path.lastIndexOf('/') + 1)}`;
  return change(deps, actor, wiki, async () => ({ actions: [action], message }), branch);
}

interface Planned {
  readonly actions: readonly EditAction[];
  /** Of the commit, after the name of its author. */
  readonly message: string;
  /** The former and the new path of a page. */
  readonly moved?: readonly [string, string];
}

/**
 * Makes one commit of what is planned on the tip of a branch.
 * @param branchName default: the default branch
 * @throws 409 when another writer changed the same files meanwhile
 */
async function change(
  deps: Deps,
  actor: Actor,
  wiki: WikiOf,
  plan: (git: GitRepository, tip: Oid | undefined) => Promise<Planned>,
  branchName?: string,
): Promise<string> {
  const { user } = signedIn(actor);
  const { git, moves } = openWikiForWriting(deps, wiki, actor);
  const { target, head } = await git.headRef();
  const branch = branchName === undefined ? target : branchRef(branchName);
  if (branch === undefined) throw refused('branch is invalid');
  const tip = branch === target ? head?.oid : (await git.ref(branch))?.oid;
  if (tip === undefined && branch !== target) throw refused(`There is no branch ${branchName} in this wiki`);
  const { actions, message, moved } = await plan(git, tip);
  if (moved !== undefined) moves.set(moved[1], moved[0]);
  if (actions.length === 0) return shortName(branch);
  const author = identityOf(user, deps.now());
  try {
    await git.commitChanges({
      branch,
      expected: tip ?? ZERO_OID,
      ...(tip === undefined ? {} : { parent: tip }),
      actions,
      author,
      committer: author,
      message: `${user.username} ${message}`,
    });
  } catch (error) {
    if (!(error instanceof NothingToCommit)) throw writeRefusal(error);
  }
  return shortName(branch);
}

function writeRefusal(error: unknown): unknown {
  if (error instanceof EditError) {
    if (error.code === 'invalid-path') return invalid({ title: ['is invalid'] });
    // A file where the page's directory would be, or what another writer has made meanwhile.
    return error.code === 'missing' ? notFound(MISSING) : invalid(DUPLICATE);
  }
  if (error instanceof UnsoundObjects) return invalid({ title: ['is invalid'] });
  const raced =
    error instanceof RefConflict &&
    error.rejections.every(({ reason }) => reason === 'stale' || reason === 'exists');
  if (raced) return conflict('409 Conflict: someone else changed the page at the same time');
  return refConflictError(error, 'The page could not be saved. Please try again.');
}

const titleIn = (slug: string): string => slug.replaceAll('-', ' ');

function demandSlug(title: string, current?: string): string {
  const found = slugOfTitle(title, current);
  if ('problem' in found) throw invalid({ title: [found.problem] });
  return found.slug;
}

async function demandContent({ settings }: Deps, content: string): Promise<void> {
  if (content.trim() === '') throw invalid({ content: ["can't be blank"] });
  const { wiki_page_max_content_bytes: limit } = await settings.current();
  const bytes = Buffer.byteLength(content);
  if (bytes > limit)
    throw invalid({
      content: [`is too long (${inUnits(bytes)}). The maximum size is ${inUnits(limit)}.`],
    });
}

const UNITS = ['Bytes', 'KB', 'MB', 'GB'];
function inUnits(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)));
  if (power === 0) return `${bytes} ${UNITS[0]}`;
  return `${(bytes / 2 ** (10 * power)).toFixed(1).replace(/\.0$/, '')} ${UNITS[power]}`;
}

/** Whether a page has the slug, in any format, or one that differs in case only. @param own file of the page that is renamed */
async function isTaken(git: GitRepository, tip: Oid, slug: string, own?: string): Promise<boolean> {
  const path = dirname(slug) === '.' ? '' : dirname(slug);
  const listed = await git.listTree(tip, { path, limit: MAX_NEIGHBOURS });
  const folded = slug.toLowerCase();
  const neighbours = (listed?.entries ?? []).some(
    (entry) =>
      entry.path !== own && pageOf(entry).some((page) => page.slug.normalize('NFC').toLowerCase() === folded),
  );
  if (neighbours) return true;
  const same = await findPage(git, tip, slug);
  return same !== undefined && same.path !== own;
}

import { shortName } from '../../git/refname.ts';
import type { Page } from '../../store/table/paging.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { demandTerm, type Searched } from '../search/search.ts';
import { mayInWiki, type WikiOf } from './access.ts';
import { wikiPages } from './open.ts';
import { listPages, textOf, type WikiPage } from './pages.ts';

/** A page in which a term was found: the first lines that have it, or its beginning where its slug has. */
export interface PageHit {
  readonly page: WikiPage;
  readonly lines: string;
  /** Of the first of these lines, from 1. */
  readonly startLine: number;
  /** The default branch. */
  readonly ref: string;
}

/** Pages whose content is looked at: the first by slug. */
const MAX_PAGES = 1_000;
/** Bytes of them, together and of one. */
const MAX_BYTES = 8 * 2 ** 20;
const MAX_PAGE_BYTES = 2 ** 20;
/** Lines before and behind the one that has the term. */
const AROUND = 2;
/** Characters of these lines. */
const MAX_SHOWN = 2_000;

/** Searches the pages of a wiki for a term, in whatever case. Empty for who may not read them. */
export async function searchPages(
  deps: Deps,
  actor: Actor,
  wiki: WikiOf,
  { term, page, perPage }: Searched,
): Promise<Page<PageHit>> {
  demandTerm(term);
  const wanted = term.trim().toLowerCase();
  if (wanted === '' || !mayInWiki(actor, wiki, 'read_wiki')) return { items: [], total: 0, more: false };
  const git = wikiPages(deps, wiki);
  const [{ pages, complete: all }, { target }] = await Promise.all([listPages(deps, wiki), git.headRef()]);
  const ref = target === undefined ? 'HEAD' : shortName(target);
  const hits: PageHit[] = [];
  let bytes = 0;
  let complete = all;
  for (const [i, each] of pages.entries()) {
    const size = i < MAX_PAGES && bytes < MAX_BYTES ? (await git.blobHeader(each.oid))?.size : undefined;
    const isRead = size !== undefined && size <= MAX_PAGE_BYTES;
    if (isRead) bytes += size;
    else complete = false;
    const data = isRead ? await git.readBlob(each.oid) : undefined;
    const hit = hitIn(each, data === undefined ? '' : textOf(data), wanted);
    if (hit !== undefined) hits.push({ ...hit, ref });
  }
  const from = (page - 1) * perPage;
  return {
    items: hits.slice(from, from + perPage),
    total: complete ? hits.length : undefined,
    more: hits.length > from + perPage,
    ...(complete ? {} : { truncated: true }),
  };
}

function hitIn(page: WikiPage, text: string, wanted: string): Omit<PageHit, 'ref'> | undefined {
  const found = text.toLowerCase().indexOf(wanted);
  if (found < 0 && !page.slug.toLowerCase().includes(wanted)) return undefined;
  // In another case a text may have another length: lines stay lines.
  const at = found < 0 ? 0 : text.toLowerCase().slice(0, found).split('\n').length - 1;
  const first = found < 0 ? 0 : Math.max(0, at - AROUND);
  const lines = text
    .split('\n')
    .slice(first, at + AROUND + 1)
    .join('\n');
  return { page, lines: lines.slice(0, MAX_SHOWN), startLine: first + 1 };
}

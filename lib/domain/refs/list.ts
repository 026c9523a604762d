/** Pages of branches and tags, sorted by name or by commit time, optionally filtered by a search. */
import type { Ref, RefPageQuery } from '../../git/ports.ts';
import { branchRef, type RefName, type RefSpace, shortName, spacePrefix, tagRef } from '../../git/refname.ts';
import type { GitRepository } from '../../git/repository.ts';
import { compareText } from '../../store/table/text-order.ts';
import type { Prefetch } from '../access/prefetch.ts';
import { nameMatcher } from './search.ts';

export interface RefListQuery {
  readonly space: RefSpace;
  readonly search?: string | undefined;
  readonly orderBy: 'name' | 'updated';
  readonly descending: boolean;
  readonly offset: number;
  readonly limit: number;
  /** Keyset pagination: only refs after the one with this short name, in the requested order. */
  readonly after?: string | undefined;
}

export interface RefList {
  readonly refs: readonly Ref[];
  /** Undefined if counting was too expensive. */
  readonly total: number | undefined;
  readonly more: boolean;
}

/** Maximum number of refs that a search examines to count its results. */
const MAX_EXAMINED = 100_000;
/** Refs whose commits are read in one batch, if their times are not stored with the ref. */
const BATCH_SIZE = 2048;

/** Sorted by name without a search, a page has constant cost; otherwise up to all names are read. */
export function listRefs(git: GitRepository, query: RefListQuery): Promise<RefList> {
  const page = pageOf(query);
  if (page !== undefined) return git.page(page);
  return query.orderBy === 'updated' ? byTime(git, query) : byNameMatching(git, query);
}

function pageOf(query: RefListQuery): RefPageQuery | undefined {
  if (query.orderBy === 'updated' || (query.search !== undefined && query.search !== '')) return undefined;
  const { space, offset, limit, descending } = query;
  const after = fullName(query);
  // Pages from the end are counted, not continued after a name.
  if (descending && after !== undefined) return undefined;
  return { space, offset, limit, descending, ...(after === undefined ? {} : { after }) };
}

/** The reads to prefetch for a list. */
export function prefetchOf(query: RefListQuery | undefined): Prefetch {
  const page = query && pageOf(query);
  const under = query && page === undefined ? ([`refs/${query.space}/`] as const) : [];
  return { page, under };
}

async function byNameMatching(git: GitRepository, query: RefListQuery): Promise<RefList> {
  const { space, offset, limit, descending } = query;
  const keyset = query.after !== undefined;
  const matches = nameMatcher(query.search);
  const view = await git.view(space);
  const page: Ref[] = [];
  let examined = 0;
  let total = 0;
  const full = () => page.length > limit;
  // Descending: the page is cut from the end, when all names are read.
  const keptFromEnd = descending ? offset + limit + 1 : undefined;
  const marker = fullName(query);
  const behind = (ref: Ref) => descending && marker !== undefined && compareText(ref.name, marker) >= 0;
  for await (const refs of view.refs(undefined, descending ? undefined : marker)) {
    for (const ref of refs) {
      if (behind(ref)) break;
      if (ref.committed === null || !matches(shortName(ref.name))) continue;
      total++;
      if (keptFromEnd !== undefined) {
        page.push(ref);
        if (page.length >= 2 * keptFromEnd) page.splice(0, page.length - keptFromEnd);
      } else if (total > offset && !full()) page.push(ref);
    }
    examined += refs.length;
    if (keptFromEnd === undefined && full() && (keyset || examined > MAX_EXAMINED))
      return { refs: page.slice(0, limit), total: undefined, more: true };
  }
  if (keptFromEnd === undefined) return { refs: page.slice(0, limit), total, more: full() };
  const last = page.toReversed().slice(offset, offset + limit);
  return { refs: last, total, more: total > offset + limit };
}

interface Timed {
  readonly ref: Ref;
  readonly time: number;
}

/** Reads all names; keeps in memory only those up to the end of the page. */
async function byTime(git: GitRepository, query: RefListQuery): Promise<RefList> {
  const { offset, limit, descending } = query;
  const matches = nameMatcher(query.search);
  const sign = descending ? -1 : 1;
  const order = (a: Timed, b: Timed) => sign * (a.time - b.time) || compareNames(a.ref, b.ref);
  const after = fullName(query);
  const [marker, view] = await Promise.all([
    after === undefined ? undefined : git.ref(after),
    git.view(query.space),
  ]);
  // A marker that was deleted has no time: start from the beginning rather than skip refs.
  const [last] = marker === undefined ? [] : await timed(git, [marker]);
  const keep = offset + limit + 1;
  let first: Timed[] = [];
  let total = 0;
  const prune = () => {
    first = first.sort(order).slice(0, keep);
  };
  for await (const refs of view.refs()) {
    for (const entry of await timed(
      git,
      refs.filter(({ name }) => matches(shortName(name))),
    )) {
      total++;
      if (last === undefined || order(last, entry) < 0) first.push(entry);
    }
    if (first.length > 2 * keep + BATCH_SIZE) prune();
  }
  prune();
  const refs = first.slice(offset, offset + limit).map(({ ref }) => ref);
  return { refs, total, more: first.length > offset + limit };
}

/** Adds commit times; refs that do not lead to a commit are dropped. */
async function timed(git: GitRepository, refs: readonly Ref[]): Promise<Timed[]> {
  const unknown = refs.filter(({ committed }) => committed === undefined);
  const times = new Map<RefName, number>();
  for (let i = 0; i < unknown.length; i += BATCH_SIZE) {
    for (const { ref, commit } of await git.tips(unknown.slice(i, i + BATCH_SIZE)))
      times.set(ref.name, commit.committer.seconds);
  }
  return refs.flatMap((ref) => {
    const time = ref.committed ?? times.get(ref.name);
    return time === undefined ? [] : [{ ref, time }];
  });
}

const fullName = ({ space, after }: RefListQuery): RefName | undefined =>
  after === undefined
    ? undefined
    : ((space === 'heads' ? branchRef : tagRef)(after) ?? markerName(space, after));

/** A marker that is not a valid ref name still has a place in the order. */
const markerName = (space: RefSpace, after: string) => `${spacePrefix(space)}${after}` as RefName;

const compareNames = (a: Ref, b: Ref) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

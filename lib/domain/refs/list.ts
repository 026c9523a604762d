/** Pages of branches and tags: by name, by the time of their commits, and of those that a search finds. */
import type { Ref, RefPageQuery } from '../../git/ports.ts';
import { branchRef, type RefName, type RefSpace, shortName, spacePrefix, tagRef } from '../../git/refname.ts';
import type { GitRepository } from '../../git/repository.ts';
import type { Prefetch } from '../access/prefetch.ts';
import { nameMatcher } from './search.ts';

export interface RefListQuery {
  readonly space: RefSpace;
  readonly search?: string | undefined;
  readonly orderBy: 'name' | 'updated';
  readonly descending: boolean;
  readonly offset: number;
  readonly limit: number;
  /** Only what stands behind the branch of this short name, in the order asked for. */
  readonly after?: string | undefined;
}

export interface RefList {
  readonly refs: readonly Ref[];
  /** undefined when it was not worth counting. */
  readonly total: number | undefined;
  readonly more: boolean;
}

/** Refs that a search judges after its page is full, to tell how many it finds. */
const COUNTED = 100_000;
/** Refs whose commits are read together, where nobody noted their times. */
const READ_TOGETHER = 2048;

/** By name without a search, a page costs the same however many there are; else all names are read, at most. */
export function listRefs(git: GitRepository, query: RefListQuery): Promise<RefList> {
  const page = pageOf(query);
  if (page !== undefined) return git.page(page);
  return query.orderBy === 'updated' ? byTime(git, query) : found(git, query);
}

function pageOf(query: RefListQuery): RefPageQuery | undefined {
  if (query.orderBy === 'updated' || (query.search !== undefined && query.search !== '')) return undefined;
  const { space, offset, limit, descending } = query;
  const after = fullName(query);
  return { space, offset, limit, descending, ...(after === undefined ? {} : { after }) };
}

/** What to prefetch for a list: all else is read no later beside the commits of the refs. */
export function prefetchOf(query: RefListQuery | undefined): Prefetch {
  const page = query && pageOf(query);
  const under = query && page === undefined ? ([`refs/${query.space}/`] as const) : [];
  return { page, under, packs: false };
}

async function found(git: GitRepository, query: RefListQuery): Promise<RefList> {
  const { space, offset, limit, descending } = query;
  const keyset = query.after !== undefined;
  const matches = nameMatcher(query.search);
  const view = await git.view(space);
  const page: Ref[] = [];
  let judged = 0;
  let total = 0;
  const full = () => page.length > limit;
  // From the end, the page's place is known when all are.
  const wanted = descending ? offset + limit + 1 : undefined;
  for await (const refs of view.refs(undefined, fullName(query))) {
    for (const ref of refs) {
      if (ref.committed === null || !matches(shortName(ref.name))) continue;
      total++;
      if (wanted !== undefined) {
        page.push(ref);
        if (page.length >= 2 * wanted) page.splice(0, page.length - wanted);
      } else if (total > offset && !full()) page.push(ref);
    }
    judged += refs.length;
    if (wanted === undefined && full() && (keyset || judged > COUNTED))
      return { refs: page.slice(0, limit), total: undefined, more: true };
  }
  if (wanted === undefined) return { refs: page.slice(0, limit), total, more: full() };
  const last = page.toReversed().slice(offset, offset + limit);
  return { refs: last, total, more: total > offset + limit };
}

interface Timed {
  readonly ref: Ref;
  readonly time: number;
}

/** Reads all names; memory holds no more of them than stand up to the page's end. */
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
  // A marker that is gone since then has no place in time: from the beginning rather than leaving some out.
  const [last] = marker === undefined ? [] : await timed(git, [marker]);
  const kept = offset + limit + 1;
  let first: Timed[] = [];
  let total = 0;
  const prune = () => {
    first = first.sort(order).slice(0, kept);
  };
  for await (const refs of view.refs()) {
    for (const one of await timed(
      git,
      refs.filter(({ name }) => matches(shortName(name))),
    )) {
      total++;
      if (last === undefined || order(last, one) < 0) first.push(one);
    }
    if (first.length > 2 * kept + READ_TOGETHER) prune();
  }
  prune();
  const refs = first.slice(offset, offset + limit).map(({ ref }) => ref);
  return { refs, total, more: first.length > offset + limit };
}

/** Those that lead to commits. */
async function timed(git: GitRepository, refs: readonly Ref[]): Promise<Timed[]> {
  const unknown = refs.filter(({ committed }) => committed === undefined);
  const times = new Map<RefName, number>();
  for (let i = 0; i < unknown.length; i += READ_TOGETHER) {
    for (const { ref, commit } of await git.tips(unknown.slice(i, i + READ_TOGETHER)))
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
    : ((space === 'heads' ? branchRef : tagRef)(after) ?? behindAll(space, after));

/** A marker that no branch can have still has its place among them. */
const behindAll = (space: RefSpace, after: string) => `${spacePrefix(space)}${after}` as RefName;

const compareNames = (a: Ref, b: Ref) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

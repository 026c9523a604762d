import type { AuthorCount } from '../../git/history.ts';
import type { GitRepository } from '../../git/repository.ts';
import { notFound } from '../errors.ts';
import { bounded } from './read.ts';
import { rememberingLimits } from './remembered-limits.ts';

export type ContributorOrder = 'name' | 'email' | 'commits';

/**
 * Returns all authors of the commits of a branch, without merge commits, sorted. Empty for a repository without commits.
 *
 * @param ref default: HEAD
 * @throws `404 Not Found` for an unknown ref
 */
export async function contributors(
  git: GitRepository,
  ref: string | undefined,
  orderBy: ContributorOrder,
  sort: 'asc' | 'desc',
): Promise<AuthorCount[]> {
  const tip = await git.resolve(ref ?? 'HEAD');
  if (tip === undefined) {
    if (ref !== undefined) throw notFound();
    return [];
  }
  const authors = await bounded(() =>
    rememberingLimits(['contributors', tip.commit], () => git.history.authors(tip.commit)),
  );
  const direction = sort === 'desc' ? -1 : 1;
  return authors.sort((a, b) => direction * compare(orderBy, a, b) || tieBreak(a, b));
}

function compare(by: ContributorOrder, a: AuthorCount, b: AuthorCount): number {
  return by === 'commits' ? a.commits - b.commits : ordinal(a[by].toLowerCase(), b[by].toLowerCase());
}

/** Makes the order total, so that pages are stable. */
const tieBreak = (a: AuthorCount, b: AuthorCount) => ordinal(a.name, b.name) || ordinal(a.email, b.email);

const ordinal = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

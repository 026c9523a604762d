import type { CommitRecord, GitRepository } from '../../git/repository.ts';
import { notFound, refused } from '../errors.ts';
import { bounded } from './read.ts';

/**
 * Returns the best common ancestor of the refs, as `git merge-base --octopus`; of several, the newest.
 *
 * @throws 400 for fewer than two refs and for unknown ones, `404 Merge Base Not Found` for unrelated histories
 */
export async function mergeBase(git: GitRepository, refs: readonly string[]): Promise<CommitRecord> {
  if (refs.length < 2) throw refused('Provide at least 2 refs');
  const found = await Promise.all(refs.map((ref) => git.resolve(ref)));
  const unknown = refs.filter((_, i) => found[i] === undefined);
  if (unknown.length > 0) {
    const names = [...new Set(unknown)];
    throw refused(`Could not find ${names.length === 1 ? 'ref' : 'refs'}: ${names.join(', ')}`);
  }
  const commits = found.flatMap((resolved) => (resolved === undefined ? [] : [resolved.commit]));
  const [base] = await bounded(() => git.history.commonAncestors(commits));
  if (base === undefined) throw notFound('Merge Base');
  return git.commit(base.oid);
}

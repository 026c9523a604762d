/** Who wrote the commits of a merge request. */

import { HistoryLimit } from '../../git/history.ts';
import type { Oid } from '../../git/oid.ts';
import type { DiffVersion } from '../../records/merge-requests.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Deps } from '../deps.ts';
import { codeOf } from '../repository/read.ts';

/** Commits of a merge request whose writers are looked up, and how many of them are read at once. */
const MAX_COMMITS = 20_000;
const AT_ONCE = 1_000;
/** Commits that are walked for them. */
const MAX_WALKED = 100_000;
/** Their different addresses, of which a hundred are looked up at once. */
const MAX_ADDRESSES = 5_000;

/**
 * Whether a user is an author or committer of a commit of the version, by a confirmed address of theirs.
 * @returns a test that everybody fails, where there are more commits or addresses than can be looked at
 */
export async function committersOf(
  deps: Deps,
  access: ProjectAccess,
  { headSha, startSha }: Pick<DiffVersion, 'headSha' | 'startSha'>,
): Promise<(userId: number) => boolean> {
  const git = codeOf(deps, access);
  const query = { tips: [headSha as Oid], exclude: [startSha as Oid], limit: MAX_COMMITS + 1 };
  const nodes = await git.history.log(query, { maxCommits: MAX_WALKED }).catch((error: unknown) => {
    if (error instanceof HistoryLimit) return undefined;
    throw error;
  });
  if (nodes === undefined || nodes.length > MAX_COMMITS) return () => true;
  const addresses = new Set<string>();
  for (let from = 0; from < nodes.length; from += AT_ONCE) {
    const commits = await git.commits(nodes.slice(from, from + AT_ONCE).map(({ oid }) => oid));
    for (const { author, committer } of commits) addresses.add(author.email).add(committer.email);
    if (addresses.size > MAX_ADDRESSES) return () => true;
  }
  const holders = await deps.store.names.holders('email', [...addresses]);
  const ids = new Set(holders.flatMap((holder) => (holder?.confirmed ? holder.id : [])));
  return (userId) => ids.has(userId);
}

/** Who wrote the commits of a merge request. */

import { HistoryLimit } from '../../git/history.ts';
import type { Oid } from '../../git/oid.ts';
import type { DiffVersion } from '../../records/merge-requests.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Deps } from '../deps.ts';
import { codeOf } from '../repository/read.ts';

/** Commits of a merge request whose writers are looked up. */
const MAX_COMMITS = 2_000;
/** Commits that are walked for them. */
const MAX_WALKED = 100_000;

/**
 * Whether a user is an author or committer of a commit of the version, by a confirmed address of theirs.
 * @returns a test that everybody fails, where there are more commits than can be looked at
 */
export async function committersOf(
  deps: Deps,
  access: ProjectAccess,
  { headSha, startSha }: Pick<DiffVersion, 'headSha' | 'startSha'>,
): Promise<(userId: number) => boolean> {
  const query = { tips: [headSha as Oid], exclude: [startSha as Oid], limit: MAX_COMMITS + 1 };
  const commits = await codeOf(deps, access)
    .log(query, { maxCommits: MAX_WALKED })
    .catch((error: unknown) => {
      if (error instanceof HistoryLimit) return undefined;
      throw error;
    });
  if (commits === undefined || commits.length > MAX_COMMITS) return () => true;
  const emails = new Set(commits.flatMap(({ author, committer }) => [author.email, committer.email]));
  const users = await deps.store.users.byEmails([...emails]);
  const ids = new Set(users.map((user) => user?.id));
  return (userId) => ids.has(userId);
}

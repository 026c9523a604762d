import { ObjectMissing } from '../../git/objects.ts';
import type { Oid } from '../../git/oid.ts';
import type { CommitRecord } from '../../git/repository.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Deps } from '../deps.ts';
import { codeOf } from '../repository/read.ts';

/** The commits of jobs, by their ids; none where the repository has lost one. */
export async function commitsOf(
  deps: Deps,
  access: ProjectAccess,
  ids: readonly string[],
): Promise<ReadonlyMap<string, CommitRecord>> {
  if (ids.length === 0) return new Map();
  try {
    const commits = await codeOf(deps, access).commits(ids as readonly Oid[]);
    return new Map(commits.map((commit) => [commit.oid, commit]));
  } catch (error) {
    if (error instanceof ObjectMissing) return new Map();
    throw error;
  }
}

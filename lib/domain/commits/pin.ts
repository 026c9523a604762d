import { ObjectMissing } from '../../git/objects.ts';
import type { Oid } from '../../git/oid.ts';
import type { PackDescription } from '../../git/ports.ts';
import { resurrect } from '../../git/resurrect.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { Missing, TransactionRefused } from '../../store/errors.ts';
import { PIN_REFUSED } from '../../store/repository/pinned-commits.ts';
import type { Write } from '../../store/table/write.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../errors.ts';
import { openRepository } from '../repository/open.ts';

/** Collections that may come between before the caller is told. */
const ATTEMPTS = 5;

/**
 * Keeps commits, with all they reach, for as long as the repository is there: for an API object that names them, such
 * as a comment, a status, a pipeline or a merge request. They need no branch from then on, no client sees that they
 * are kept, and nothing takes it back.
 *
 * `write` makes the API object in one transaction with the writes it is given (none for commits that are kept already;
 * else 1 and 1 for each, 1 more where garbage is resurrected), and is called again when a collection of garbage came
 * between. It must let a `TransactionRefused` with the reason {@link PIN_REFUSED} through and must have no other
 * effects.
 *
 * @param commits ids of stored objects, at most 20
 * @returns what `write` returns
 * @throws `404 Commit Not Found` when one is not there (any more), `404 Project Not Found`; what `write` throws
 */
export async function pinCommits<T>(
  deps: Deps,
  project: ProjectRecord,
  commits: readonly Oid[],
  write: (keep: readonly Write[]) => Promise<T>,
): Promise<T> {
  const { pinnedCommits } = deps.store;
  for (let attempt = 1; ; attempt++) {
    // The look comes first: what is listed afterwards is no older than its epoch.
    const look = await pinnedCommits.snapshot(project.repositoryId, commits).catch(gone);
    const repository = openRepository(deps, project);
    let resurrected: PackDescription | undefined;
    try {
      resurrected = look.unpinned.length === 0 ? undefined : await resurrect(repository, look.unpinned);
    } catch (error) {
      throw error instanceof ObjectMissing ? notFound('Commit') : error;
    }
    try {
      return await write(pinnedCommits.writes(look, resurrected === undefined ? [] : [resurrected]));
    } catch (error) {
      // Only a refusal says for sure that nothing was listed.
      if (resurrected !== undefined && error instanceof TransactionRefused)
        await repository.objects.rollbackPack(resurrected);
      const between = error instanceof TransactionRefused && error.has(PIN_REFUSED);
      if (!between || attempt >= ATTEMPTS) throw error;
    }
  }
}

/** One of {@link pinCommits}. */
export function pinCommit<T>(
  deps: Deps,
  project: ProjectRecord,
  commit: Oid,
  write: (keep: readonly Write[]) => Promise<T>,
): Promise<T> {
  return pinCommits(deps, project, [commit], write);
}

function gone(error: unknown): never {
  throw error instanceof Missing ? notFound('Project') : error;
}

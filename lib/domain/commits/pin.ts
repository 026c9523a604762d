import { ObjectMissing } from '../../git/objects.ts';
import type { Oid } from '../../git/oid.ts';
import type { PackDescription } from '../../git/ports.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { Missing, TransactionRefused } from '../../store/errors.ts';
import { PIN_REFUSED } from '../../store/repository/pinned-commits.ts';
import type { Write } from '../../store/table/write.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../errors.ts';
import { openRepository } from '../repository/open.ts';

/** Attempts, each lost to a concurrent garbage collection, before the error is returned. */
const ATTEMPTS = 5;

/**
 * Pins commits, so that they and all they reach are kept as long as the repository exists: for an API object that
 * refers to them, such as a comment, a status, a pipeline or a merge request. Pins are permanent and invisible to
 * clients (as keep-alive refs in git); the commits then need no branch.
 *
 * `write` creates the API object in one transaction with the writes it is given (none if all commits are pinned; else
 * 1 plus 1 for each, 1 more if garbage is resurrected). It is called again if a garbage collection interfered. It must
 * rethrow a `TransactionRefused` with the reason {@link PIN_REFUSED} and must have no other effects.
 *
 * @param commits IDs of stored objects, at most 20
 * @returns the result of `write`
 * @throws `404 Commit Not Found` if one does not exist (any more), `404 Project Not Found`; what `write` throws
 */
export async function pinCommits<T>(
  deps: Deps,
  project: ProjectRecord,
  commits: readonly Oid[],
  write: (pinWrites: readonly Write[]) => Promise<T>,
): Promise<T> {
  const { pinnedCommits } = deps.store;
  for (let attempt = 1; ; attempt++) {
    // The snapshot comes first: packs listed afterwards are at least as new as its epoch.
    const snapshot = await pinnedCommits.snapshot(project.repositoryId, commits).catch(projectNotFound);
    const repository = openRepository(deps, project);
    let resurrected: PackDescription | undefined;
    try {
      if (snapshot.unpinned.length > 0) {
        const { resurrect } = await import('../../git/resurrect.ts');
        resurrected = await resurrect(repository, snapshot.unpinned);
      }
    } catch (error) {
      throw error instanceof ObjectMissing ? notFound('Commit') : error;
    }
    try {
      return await write(pinnedCommits.writes(snapshot, resurrected === undefined ? [] : [resurrected]));
    } catch (error) {
      // Only a refused transaction guarantees that the pack was not listed.
      if (resurrected !== undefined && error instanceof TransactionRefused)
        await repository.objects.rollbackPack(resurrected);
      const collectedMeanwhile = error instanceof TransactionRefused && error.has(PIN_REFUSED);
      if (!collectedMeanwhile || attempt >= ATTEMPTS) throw error;
    }
  }
}

/** {@link pinCommits} for one commit. */
export function pinCommit<T>(
  deps: Deps,
  project: ProjectRecord,
  commit: Oid,
  write: (pinWrites: readonly Write[]) => Promise<T>,
): Promise<T> {
  return pinCommits(deps, project, [commit], write);
}

function projectNotFound(error: unknown): never {
  throw error instanceof Missing ? notFound('Project') : error;
}

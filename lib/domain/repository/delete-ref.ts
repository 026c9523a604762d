import type { Ref } from '../../git/ports.ts';
import type { GitRepository } from '../../git/repository.ts';
import { refConflictError } from './conflicts.ts';

/**
 * Deletes a branch or tag if it has not moved since it was read.
 * @param unchanged called with the time of its commit; throws if that is later than the caller allows
 * @throws 400 if another writer was first
 */
export async function deleteRefIfUnchanged(
  git: GitRepository,
  ref: Ref,
  unchanged: (commit: Date) => void,
): Promise<void> {
  const [tip] = await git.tips([ref]);
  if (tip !== undefined) unchanged(new Date(tip.commit.committer.seconds * 1000));
  try {
    await git.deleteRef(ref.name, ref.oid);
  } catch (error) {
    throw refConflictError(error, `Could not update ${ref.name}. Please refresh and try again.`);
  }
}

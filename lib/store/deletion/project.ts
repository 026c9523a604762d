import type { Store } from '../store.ts';
import type { DeletedProject, DeletedRepository } from './remover.ts';
import { removers } from './removers.ts';

/**
 * Deletes all rows and bytes of a deleted project and its repository, except the project's record. Idempotent;
 * continues where an earlier call stopped.
 * @param deadline milliseconds since 1970; no new page of rows begins after it
 * @returns whether nothing remains
 */
export async function removeProjectRows(
  stores: Store,
  project: DeletedProject,
  repository: DeletedRepository,
  deadline: number,
): Promise<boolean> {
  for (const { ofProject, ofRepository } of removers) {
    if ((await ofProject?.run?.(stores, project, deadline)) === false) return false;
    if ((await ofRepository?.run?.(stores, repository, deadline)) === false) return false;
  }
  return true;
}

/** Like {@link removeProjectRows}, for the repository alone. */
export async function removeRepositoryRows(
  stores: Store,
  repository: DeletedRepository,
  deadline: number,
): Promise<boolean> {
  for (const { ofRepository } of removers)
    if ((await ofRepository?.run?.(stores, repository, deadline)) === false) return false;
  return true;
}

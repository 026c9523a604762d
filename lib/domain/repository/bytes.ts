import type { PackDescription } from '../../git/ports.ts';
import { type RepositoryOwner, repositoryIdOf } from '../../records/repository-owner.ts';
import { Missing } from '../../store/errors.ts';
import type { Deps } from '../deps.ts';

/** Bytes of packs with their indexes. */
export const bytesOf = (packs: readonly PackDescription[]): number =>
  packs.reduce((sum, { packSize, indexSize }) => sum + packSize + indexSize, 0);

/** Bytes of the packs of a wiki or a snippet; 0 if nobody has written to it. */
export async function bytesBesideCode({ store }: Deps, owner: RepositoryOwner): Promise<number> {
  try {
    return bytesOf(await store.repositories.open(repositoryIdOf(owner)).listPacks());
  } catch (error) {
    if (error instanceof Missing) return 0;
    throw error;
  }
}

import { type MaintainedObjects, type PackDescription, PacksChanged } from '../git/ports.ts';
import type { Blobs } from './blobs.ts';
import { Stale } from './errors.ts';
import { GitObjects } from './git-objects.ts';
import type { Lease } from './leases.ts';
import type { Repositories } from './repositories.ts';

/** The packs of a repository whose lease the caller holds. */
export class MaintainedGitObjects extends GitObjects implements MaintainedObjects {
  readonly #repositories: Repositories;
  readonly #lease: Lease;
  readonly #now: Date;

  constructor(
    { blobs, repositories }: { readonly blobs: Blobs; readonly repositories: Repositories },
    lease: Lease,
    now: Date,
  ) {
    super(blobs, repositories.open(lease.repositoryId), lease.repositoryId);
    this.#repositories = repositories;
    this.#lease = lease;
    this.#now = now;
  }

  async commitPacks(
    add: readonly PackDescription[],
    replaced: readonly PackDescription[],
    { epoch }: { readonly epoch?: number } = {},
  ): Promise<void> {
    try {
      await this.#repositories.replacePacks(this.#lease, add, replaced, this.#now, epoch);
    } catch (error) {
      throw error instanceof Stale ? new PacksChanged() : error;
    }
  }
}

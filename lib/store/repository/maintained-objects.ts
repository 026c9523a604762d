import {
  type DerivedContent,
  type DerivedFile,
  type DerivedKind,
  type MaintainedObjects,
  type PackDescription,
  type PackSink,
  PacksChanged,
  type Provenance,
} from '../../git/ports.ts';
import type { Blobs } from '../blobs/blobs.ts';
import { Stale } from '../errors.ts';
import type { Lease } from '../maintenance/leases.ts';
import { storeDerived } from './derived-files.ts';
import { GitObjects, packSinkTo } from './pack-objects.ts';
import type { Repositories } from './repositories.ts';

/** The packs of a repository whose lease the caller holds. */
export class MaintainedGitObjects extends GitObjects implements MaintainedObjects {
  readonly #repositories: Repositories;
  readonly #lease: Lease;
  readonly #now: Date;
  readonly #blobs: Blobs;

  constructor(
    { blobs, repositories }: { readonly blobs: Blobs; readonly repositories: Repositories },
    lease: Lease,
    now: Date,
  ) {
    super(
      blobs,
      repositories.open(lease.repositoryId),
      lease.repositoryId,
      lease.networkId,
      lease.storagePrefix,
    );
    this.#blobs = blobs;
    this.#repositories = repositories;
    this.#lease = lease;
    this.#now = now;
  }

  packSink(): PackSink {
    return packSinkTo(this.#blobs, this.#lease);
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

  async storeDerived(
    kind: DerivedKind,
    content: DerivedContent,
    provenance: Provenance,
  ): Promise<DerivedFile> {
    const { repositoryId } = this.#lease;
    const { derived } = await this.#repositories.open(repositoryId).listing();
    const previous = derived.find((file) => file.kind === kind);
    const file = await storeDerived(this.#blobs, this.#lease, kind, content, provenance);
    try {
      await this.#repositories.replaceDerived(this.#lease, file, previous, this.#now);
    } catch (error) {
      if (!(error instanceof Stale)) throw error;
      // Never listed: if it cannot be deleted now, a sweep does.
      await this.#blobs.delete([file.location]).catch(() => {});
      throw new PacksChanged();
    }
    return file;
  }
}

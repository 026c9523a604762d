/** The packs of one repository and their derived files, as read by one request. */
import type { DerivedFile, DerivedKind } from '../../git/ports.ts';
import { Missing } from '../errors.ts';
import { type CataloguedPack, type Listing, listingOf, supersededOf } from './pack-list.ts';
import type { RefSnapshots } from './ref-snapshot.ts';

export class PackListSnapshots {
  readonly #snapshots: RefSnapshots;
  /** As last read by this request. */
  listed: Listing | undefined;
  /** A listing that may be older than the epoch, because both were read in parallel: no write may rely on it alone. */
  #unsure: Listing | undefined;

  constructor(snapshots: RefSnapshots) {
    this.#snapshots = snapshots;
  }

  get unsure(): boolean {
    return this.#unsure !== undefined;
  }

  /** Discards what was read: a garbage collection has begun since. */
  forget(): void {
    this.#unsure = undefined;
  }

  /** Returns a derived file, as of the last listing. */
  derived(kind: DerivedKind): DerivedFile | undefined {
    return this.listed?.derived.find((file) => file.kind === kind);
  }

  async listing(): Promise<Listing> {
    const sure = this.#snapshots.epoch !== undefined;
    const [guard, listing] = await Promise.all([
      this.#snapshots.guard ?? this.#snapshots.besideGuard([]).then((read) => read.guard),
      listingOf(this.#snapshots.table, this.#snapshots.id),
    ]);
    if (guard.state === 'deleted') throw new Missing('repository');
    if (!sure) this.#unsure ??= listing;
    else if (this.#unsure !== undefined) {
      // Objects found in a pack that is no longer listed may be garbage by now.
      if (!stillInUse(this.#unsure, listing)) this.#snapshots.epoch = NO_EPOCH;
      this.#unsure = undefined;
    }
    this.listed = listing;
    return listing;
  }

  /** All packs, the superseded after the active ones. */
  async catalogue(): Promise<readonly CataloguedPack[]> {
    // In this order: a pack that is superseded in between is read twice instead of being missed.
    const { packs } = await listingOf(this.#snapshots.table, this.#snapshots.id);
    const superseded = await supersededOf(this.#snapshots.table, this.#snapshots.id);
    const old = new Set(superseded.map(({ id }) => id));
    return [...packs.filter(({ id }) => !old.has(id)), ...superseded];
  }
}

/** Equal to no guard's epoch. */
const NO_EPOCH = -1;

/** Whether all packs that are not garbage are still listed as such. */
function stillInUse({ packs }: Listing, now: Listing): boolean {
  const inUse = new Set(
    now.packs.filter(({ source }) => source !== 'unreachable-garbage').map(({ id }) => id),
  );
  return packs.every(({ id, source }) => source === 'unreachable-garbage' || inUse.has(id));
}

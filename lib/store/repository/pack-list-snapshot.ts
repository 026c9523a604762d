/** The packs of one repository and what was made of them, as one request saw them. */
import type { DerivedFile, DerivedKind } from '../../git/ports.ts';
import { Missing } from '../errors.ts';
import { guardKey } from '../row-keys/repository.ts';
import { type CataloguedPack, type Listing, listingOf, supersededOf } from './pack-list.ts';
import type { RefSnapshots } from './ref-snapshot.ts';
import { randomStripe } from './state.ts';

export class PackListSnapshots {
  readonly #looks: RefSnapshots;
  /** As this request last saw them. */
  listed: Listing | undefined;
  /** A listing that may be older than the epoch, because both were read at once: no write relies on it alone. */
  #unsure: Listing | undefined;

  constructor(looks: RefSnapshots) {
    this.#looks = looks;
  }

  get unsure(): boolean {
    return this.#unsure !== undefined;
  }

  /** What was read before stands for nothing: a collection began since. */
  forget(): void {
    this.#unsure = undefined;
  }

  /** What maintenance made of the packs, as the last listing told. */
  derived(kind: DerivedKind): DerivedFile | undefined {
    return this.listed?.derived.find((file) => file.kind === kind);
  }

  async listing(): Promise<Listing> {
    const sure = this.#looks.epoch !== undefined;
    const [guard, listing] = await Promise.all([
      this.#looks.guard ??
        this.#looks.table
          .get(guardKey(this.#looks.id, randomStripe()))
          .then((item) => this.#looks.noteGuard(item)),
      listingOf(this.#looks.table, this.#looks.id),
    ]);
    if (guard.state === 'deleted') throw new Missing('repository');
    if (!sure) this.#unsure ??= listing;
    else if (this.#unsure !== undefined) {
      // What was found in a pack that has left the list since may be garbage by now.
      if (!stillInUse(this.#unsure, listing)) this.#looks.epoch = NO_EPOCH;
      this.#unsure = undefined;
    }
    this.listed = listing;
    return listing;
  }

  /** Superseded packs too, behind those in use. */
  async catalogue(): Promise<readonly CataloguedPack[]> {
    // In this order: a pack that is superseded in between is read twice rather than not at all.
    const { packs } = await listingOf(this.#looks.table, this.#looks.id);
    const superseded = await supersededOf(this.#looks.table, this.#looks.id);
    const old = new Set(superseded.map(({ id }) => id));
    return [...packs.filter(({ id }) => !old.has(id)), ...superseded];
  }
}

/** No guard has it. */
const NO_EPOCH = -1;

/** Whether every pack that held more than garbage still does. */
function stillInUse({ packs }: Listing, now: Listing): boolean {
  const inUse = new Set(
    now.packs.filter(({ source }) => source !== 'unreachable-garbage').map(({ id }) => id),
  );
  return packs.every(({ id, source }) => source === 'unreachable-garbage' || inUse.has(id));
}

import type { OpenDerived } from '../derived.ts';
import { TipListing } from './tip-listing.ts';

/** An LRU cache of tip listings, up to a budget of bytes. */
export class TipCache {
  readonly #budget: number;
  readonly #listings = new Map<string, TipListing>();
  /** The last in the order of use: it is asked for tree after tree. */
  #newest: { readonly id: string; readonly listing: TipListing } | undefined;
  #bytes = 0;

  constructor(budget: number) {
    this.#budget = budget;
  }

  /** The listing when it is in memory. */
  held({ description }: OpenDerived): TipListing | undefined {
    return this.#listings.get(description.id);
  }

  /** @throws BlockMiss, CorruptData */
  get(source: OpenDerived): TipListing {
    const { id } = source.description;
    if (this.#newest?.id === id) return this.#newest.listing;
    const held = this.#listings.get(id);
    const listing = held ?? readListing(source);
    this.#listings.delete(id);
    this.#listings.set(id, listing);
    this.#newest = { id, listing };
    if (held === undefined) this.#bytes += listing.bytes;
    for (const [oldest, { bytes }] of this.#listings) {
      if (this.#bytes <= this.#budget || oldest === id) break;
      this.#listings.delete(oldest);
      this.#bytes -= bytes;
    }
    return listing;
  }
}

function readListing({ file }: OpenDerived): TipListing {
  return new TipListing(file.slice(0, file.size));
}

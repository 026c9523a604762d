import type { OpenDerived } from '../derived.ts';
import { LruCache } from '../lru-cache.ts';
import { TipListing } from './tip-listing.ts';

/** Tip listings, up to a budget of bytes. */
export class TipCache {
  readonly #listings: LruCache<TipListing>;
  /** The last in the order of use: it is asked for tree after tree. */
  #newest: { readonly id: string; readonly listing: TipListing } | undefined;

  constructor(budget: number) {
    this.#listings = new LruCache({ sizeOf: ({ bytes }) => bytes, maxSize: budget });
  }

  /** The listing when it is in memory. */
  held({ description }: OpenDerived): TipListing | undefined {
    return this.#listings.get(description.id);
  }

  /** @throws BlockMiss, CorruptData */
  get(source: OpenDerived): TipListing {
    const { id } = source.description;
    if (this.#newest?.id === id) return this.#newest.listing;
    const listing = this.#listings.use(id, this.#listings.get(id) ?? readListing(source));
    this.#newest = { id, listing };
    return listing;
  }
}

function readListing({ file }: OpenDerived): TipListing {
  return new TipListing(file.slice(0, file.size));
}

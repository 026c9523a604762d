/** The `bundle-uri` command of version 2 (gitprotocol-v2, "bundle-uri"; git's bundle-uri design document). */
import { parseBundleHeader } from '../bundle.ts';
import type { OpenDerived } from '../derived.ts';
import { fitsBundle } from '../maintenance/due.ts';
import type { Oid } from '../oid.ts';
import { BLOCK_SIZE } from '../pack/block-cache.ts';
import type { PackStore } from '../pack/store.ts';
import type { DerivedFile } from '../ports.ts';
import { WireError } from './error.ts';
import { FLUSH, pkt } from './pkt-line.ts';
import type { Repository } from './repository.ts';
import { type Visibility, visibleRefs } from './visible.ts';
import { checkWants } from './wants.ts';

/** Bundles of one repository. */
export interface Bundles {
  /** Returns a short-lived URL of a bundle that needs no credentials, for clients that may read the repository. */
  url(bundle: DerivedFile): Promise<string>;
  /** Has one made, for clients to come. */
  request(): Promise<void>;
}

/** Offers the current bundle, if all its tips are still reachable from visible refs; requests one when there is none. */
export async function bundleUri(
  repository: Repository,
  bundles: Bundles | undefined,
  visible: Visibility | undefined,
): Promise<Uint8Array[]> {
  const { store, refs } = repository;
  if (bundles === undefined) return [FLUSH];
  const packs = (await store.packs()).map(({ description }) => description);
  const bundle = store.derived('bundle');
  if (bundle === undefined) {
    if (fitsBundle(packs)) await bundles.request();
    return [FLUSH];
  }
  const tips = await bundledTips(store, bundle);
  if (!tips?.length) return [FLUSH];
  try {
    const shown = await visibleRefs(refs, visible);
    await checkWants(store, { ...shown, recentTips: async () => [] }, tips);
  } catch (error) {
    if (error instanceof WireError && error.code === 'not-our-ref') return [FLUSH];
    throw error;
  }
  const uri = await bundles.url(bundle.description);
  const lines = ['bundle.version=1', 'bundle.mode=all', `bundle.default.uri=${uri}`];
  return [...lines.map((line) => pkt(line)), FLUSH];
}

/** The tips in the bundle's header. */
async function bundledTips(store: PackStore, bundle: OpenDerived): Promise<Oid[] | undefined> {
  return store.run(() =>
    bundle.attempt(() => {
      const { file } = bundle;
      for (let blocks = 1; ; blocks++) {
        const end = Math.min(blocks * BLOCK_SIZE, file.size);
        const head = parseBundleHeader(file.slice(0, end));
        if (head !== undefined) return [...new Set(head.map(({ oid }) => oid))];
        if (end === file.size) return undefined;
      }
    }),
  );
}

import { PackCache } from '../pack/pack-cache.ts';
import { PackStore } from '../pack/store.ts';
import { storedBytesAbove } from '../pack/stored-bytes.ts';
import type { ObjectDatabase } from '../ports.ts';
import type { RefDatabase } from '../ref-database.ts';
import { warn } from '../warnings.ts';
import { underWatch } from '../work.ts';
import { type KeptPacks, keptPack } from './kept-pack.ts';
import { KEPT_AT_ONCE, listed, MANY_OBJECTS, packfile } from './packfile.ts';

const OPTIONS = {
  thinPack: false,
  ofsDelta: true,
  includeTag: false,
  progress: false,
  sideBand: 'none',
} as const;
const DEPTH = { kind: 'depth', depth: 1, relative: false } as const;

/**
 * Keeps the pack of a clone of depth 1 of the default branch, unless such a pack is kept: jobs of CI ask for it, and to make it
 * of what is stored takes much of the processor. It is for workers, and fails with a warning alone.
 * @param signal ends it: the objects that a few megabytes of deltas make may be gigabytes
 */
export function keepFirstClone(
  objects: ObjectDatabase,
  refs: RefDatabase,
  packs: KeptPacks,
  signal: AbortSignal,
): Promise<void> {
  return underWatch({ signal }, () => keep(objects, refs, packs));
}

async function keep(objects: ObjectDatabase, refs: RefDatabase, packs: KeptPacks): Promise<void> {
  const onError = (cause: unknown) => warn('first clone not kept', { cause: String(cause) });
  try {
    const tip = (await refs.headRef()).head?.oid;
    if (tip === undefined) return;
    // A worker's memory is needed for other things.
    const cache = new PackCache({ blockBytes: 64 * 2 ** 20, baseBytes: 48 * 2 ** 20 });
    const store = new PackStore(objects, { cache });
    const what = { wants: [tip], filter: undefined, options: OPTIONS };
    const asked = { ...what, haves: [], shallow: [], deepen: DEPTH, uriProtocols: [] };
    const copy = await keptPack(store, asked, NO_TAGS, packs);
    if (copy === undefined || (await copy.latest()) !== undefined) return;
    const request = {
      ...what,
      common: new Set<never>(),
      cut: new Set([tip]),
      tags: NO_TAGS,
      notice: undefined,
      onError,
      failureText: undefined,
      limit: undefined,
      kept: copy,
    };
    const list = await listed(store, request);
    const isLarge = list.count > MANY_OBJECTS || (await storedBytesAbove(store, list, KEPT_AT_ONCE));
    if (isLarge) return;
    for await (const _ of packfile(store, request, list)) {
      // It is kept as it passes.
    }
  } catch (cause) {
    onError(cause);
  }
}

const NO_TAGS = new Map<never, never>();

import type { PackDescription } from '../../git/ports.ts';
import { packObjectKeys } from '../../store/repository/pack-objects.ts';
import type { Deps } from '../deps.ts';

/** Seconds for which a URL of a pack is valid: clients fetch it after the response. A download that has started may finish later. */
const PACK_SECONDS = 900;

/** A URL of a stored pack for callers who may have all of its objects; undefined for one stored together with its index. */
export async function packUrl({ store }: Deps, pack: PackDescription): Promise<string | undefined> {
  if (pack.layout !== 'split') return undefined;
  return store.blobs.presignedGet(packObjectKeys(pack)[0]!, PACK_SECONDS);
}

import { KEYS_CACHE_MS, type MasterKey } from '../../store/secrets/master-key.ts';
import type { Secrets } from '../../store/secrets/secrets.ts';
import type { Deps } from '../deps.ts';
import { refused } from '../errors.ts';

export interface MasterKeyState {
  /** The id of the key that secrets are sealed with. */
  readonly current: string;
  /** Ids of all that are kept. */
  readonly keys: readonly string[];
  /** Secrets that were sealed anew. */
  readonly resealed: number;
}

/** How long a key stays after another took its place: functions of that moment have ended, or read it anew. */
const GRACE = 20 * 60_000;

/**
 * Changes what secrets are sealed with. `rotate` makes a new key and seals every secret with it; `retire`, twenty
 * minutes later or more, does that for those sealed in between and forgets the keys before. Without a step, it makes
 * the key where there is none and tells what there is. Each may be repeated, and whatever stopped half way is mended
 * by the next; of two at once one is refused.
 *
 * @throws 400 for another step, while somebody else is at it, and for `retire` too early
 */
export async function changeMasterKey(
  { store, now }: Pick<Deps, 'store' | 'now'>,
  { masterKey, secrets }: { readonly masterKey: MasterKey; readonly secrets: Secrets },
  step: unknown,
): Promise<MasterKeyState> {
  if (step !== undefined && step !== 'rotate' && step !== 'retire') throw refused('step is rotate or retire');
  const lease = await store.masterKeyLeases.acquire(now());
  if (lease === undefined) throw refused('the master key is being changed already');
  try {
    if (step === 'rotate') await masterKey.rotate(now());
    let keys = await masterKey.keys();
    if (step === undefined) return stateOf(keys, 0);
    const since = Date.parse(keys.keys[keys.current]!.since);
    if (step === 'retire' && now().getTime() - since < Math.max(GRACE, KEYS_CACHE_MS)) {
      throw refused(
        `the key is of ${new Date(since).toISOString()}: others may be in use for twenty minutes`,
      );
    }
    const { resealed, left } = await secrets.reseal();
    if (step === 'retire') {
      if (left > 0) throw refused(`${left} secrets were changed just now: try again`);
      keys = await masterKey.retire();
    }
    return stateOf(keys, resealed);
  } finally {
    await store.masterKeyLeases.release(lease);
  }
}

const stateOf = ({ current, keys }: { current: string; keys: object }, resealed: number): MasterKeyState => ({
  current,
  keys: Object.keys(keys),
  resealed,
});

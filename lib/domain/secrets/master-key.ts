import { KEYS_CACHE_MS, type MasterKey } from '../../store/secrets/master-key.ts';
import type { Secrets } from '../../store/secrets/secrets.ts';
import type { Deps } from '../deps.ts';
import { refused } from '../errors.ts';

export interface MasterKeyState {
  /** ID of the key that secrets are sealed with. */
  readonly current: string;
  /** IDs of all stored keys. */
  readonly keys: readonly string[];
  /** Number of secrets that were resealed. */
  readonly resealed: number;
}

/** Minimum age of a new key before the old ones are deleted: by then no function uses a cached old key. */
const GRACE_MS = 20 * 60_000;

/**
 * Changes the master key. `rotate` creates a new key and reseals every secret with it; `retire`, at least twenty
 * minutes later, reseals secrets written in between and deletes the old keys. Without a step, it creates the key if
 * there is none and returns the state. Each step can be repeated and completes an interrupted one; of two concurrent
 * runs one is refused.
 *
 * @throws 400 for an unknown step, during a concurrent run, and for `retire` too early
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
    if (step === 'retire' && now().getTime() - since < Math.max(GRACE_MS, KEYS_CACHE_MS)) {
      throw refused(
        `the key was created at ${new Date(since).toISOString()}: earlier ones may be in use for twenty minutes`,
      );
    }
    const { resealed, left: remaining } = await secrets.reseal();
    if (step === 'retire') {
      if (remaining > 0) throw refused(`${remaining} secrets were changed just now: try again`);
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

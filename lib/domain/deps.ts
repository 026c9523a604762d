import type { HistoryCache } from '../git/history/known.ts';
import type { PackCache } from '../git/pack/pack-cache.ts';
import type { StoreEnvironment } from '../store/environment.ts';
import type { Secrets } from '../store/secrets/secrets.ts';
import type { Store } from '../store/store.ts';
import type { Settings } from './settings/current.ts';

/** Dependencies of the domain rules. Created once per process by the functions, and by tests with a clock of their own. */
export interface Deps {
  readonly store: Store;
  /** Blocks and indexes of packs, shared by all repositories of the process. Never stale: packs are immutable. */
  readonly packs: PackCache;
  /** Commits that requests have walked, by repository. Never stale: commits are immutable. */
  readonly histories: HistoryCache;
  readonly environment: StoreEnvironment;
  /** The instance settings, cached per process. */
  readonly settings: Settings;
  /** Only in functions that may use the master key. */
  readonly secrets?: Secrets;
  readonly now: () => Date;
}

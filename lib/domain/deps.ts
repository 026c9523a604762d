import type { HistoryCache } from '../git/history/known.ts';
import type { PackCache } from '../git/pack/pack-cache.ts';
import type { StoreEnvironment } from '../store/environment.ts';
import type { Secrets } from '../store/secrets/secrets.ts';
import type { Store } from '../store/store.ts';
import type { Settings } from './settings/current.ts';

/** What rules work with. Made once per process by the functions, and by tests with another clock. */
export interface Deps {
  readonly store: Store;
  /** Blocks and indexes of packs, shared by all repositories of the process: packs never change. */
  readonly packs: PackCache;
  /** Commits that requests have walked, by repository: commits never change. */
  readonly histories: HistoryCache;
  readonly environment: StoreEnvironment;
  /** What administrators have set, as a copy of the process. */
  readonly settings: Settings;
  /** Of functions with the right to the master key. */
  readonly secrets?: Secrets;
  readonly now: () => Date;
}

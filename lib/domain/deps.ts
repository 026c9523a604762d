import type { StoreEnvironment } from '../store/environment.ts';
import type { Store } from '../store/store.ts';

/** What rules work with. Made once per process by the functions, and by tests with another clock. */
export interface Deps {
  readonly store: Store;
  readonly environment: StoreEnvironment;
  readonly now: () => Date;
}

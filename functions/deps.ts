import { type ApiDeps, apiDeps } from '../lib/api/endpoint.ts';
import { HistoryCache } from '../lib/git/history/known.ts';
import { PackCache } from '../lib/git/pack/pack-cache.ts';
import { readEnvironment } from '../lib/store/environment.ts';
import { createStore } from '../lib/store/store.ts';

let made: ApiDeps | undefined;

/** What every function works with; clients and caches are made once per process and shared. */
export function deps(): ApiDeps {
  if (made === undefined) {
    const environment = readEnvironment();
    const store = createStore(environment);
    made = apiDeps({
      environment,
      store,
      packs: new PackCache(),
      histories: new HistoryCache(),
      now: () => new Date(),
    });
  }
  return made;
}

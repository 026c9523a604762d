import { type ApiDeps, apiDeps } from '../lib/api/endpoint.ts';
import { cachedSettings } from '../lib/domain/settings/current.ts';
import { HistoryCache } from '../lib/git/history/known.ts';
import { PackCache } from '../lib/git/pack/pack-cache.ts';
import { warnTo } from '../lib/git/warnings.ts';
import { awsClients } from '../lib/store/clients.ts';
import { readEnvironment } from '../lib/store/environment.ts';
import { createStore } from '../lib/store/store.ts';
import type { RetryPolicy } from '../lib/store/table/retry.ts';
import { log } from '../lib/telemetry/log.ts';

let shared: ApiDeps | undefined;

warnTo((message, facts) => log('warn', message, facts));

/** The dependencies of every function; clients and caches are created once per process. */
export function deps(): ApiDeps {
  shared ??= makeDeps();
  return shared;
}

/** Creates new dependencies, as in a process that has just started: empty caches, clients over the current transports. */
export function makeDeps(options: { readonly retries?: RetryPolicy } = {}): ApiDeps {
  const environment = readEnvironment();
  const store = createStore(environment, awsClients(), options.retries);
  return apiDeps({
    environment,
    store,
    settings: cachedSettings(store.settings, environment),
    packs: new PackCache(),
    histories: new HistoryCache(),
    now: () => new Date(),
  });
}

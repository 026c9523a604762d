import { type ApiDeps, apiDeps } from '../lib/api/endpoint.ts';
import { cachedSettings } from '../lib/domain/settings/current.ts';
import { HistoryCache } from '../lib/git/history/known.ts';
import { PackCache } from '../lib/git/pack/pack-cache.ts';
import { warnTo } from '../lib/git/warnings.ts';
import { type AwsClients, awsClients } from '../lib/store/clients.ts';
import { readEnvironment } from '../lib/store/environment.ts';
import { createStore } from '../lib/store/store.ts';
import type { RetryPolicy } from '../lib/store/table/retry.ts';
import { log } from '../lib/telemetry/log.ts';

warnTo((message, facts) => log('warn', message, facts));

/** Makes something at the first call, and again when the clients are others: in a process whose host was started again. */
export function perClients<T>(make: () => T): () => T {
  let kept: { readonly clients: AwsClients; readonly made: T } | undefined;
  return () => {
    const clients = awsClients();
    if (kept?.clients !== clients) kept = { clients, made: make() };
    return kept.made;
  };
}

/** The dependencies of every function; clients and caches are created once per process. */
export const deps: () => ApiDeps = perClients(() => makeDeps());

/** Creates new dependencies, as in a process that has just started: empty caches, clients over the current transports. */
export function makeDeps(options: { readonly retries?: RetryPolicy } = {}): ApiDeps {
  const environment = readEnvironment();
  const store = createStore(environment, awsClients(), options.retries);
  return apiDeps({
    environment,
    store,
    settings: cachedSettings(store.settings, environment),
    packs: new PackCache({ bytes: environment.packCacheBytes }),
    histories: new HistoryCache(),
    now: () => new Date(),
  });
}

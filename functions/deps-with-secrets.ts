import { MasterKey } from '../lib/store/secrets/master-key.ts';
import { Secrets } from '../lib/store/secrets/secrets.ts';
import { deps, perClients } from './deps.ts';

/** The dependencies of a function that may use the master key. */
export const depsWithSecrets = perClients(() => {
  const { store, environment } = deps();
  const secrets = new Secrets(store.table, new MasterKey(environment.masterKeyParameter));
  return Object.assign(deps(), { secrets });
});

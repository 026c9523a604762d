import { settingEndpoints } from '../lib/api/settings/endpoints.ts';
import { apiFunction } from '../lib/http/function.ts';
import { MasterKey } from '../lib/store/secrets/master-key.ts';
import { Secrets } from '../lib/store/secrets/secrets.ts';
import { deps, perClients } from './deps.ts';

export const { handler, fetch } = apiFunction({
  endpoints: settingEndpoints,
  deps: perClients(() => {
    const { store, environment } = deps();
    const secrets = new Secrets(store.table, new MasterKey(environment.masterKeyParameter));
    return Object.assign(deps(), { secrets });
  }),
});

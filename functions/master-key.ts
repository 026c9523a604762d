import { changeMasterKey } from '../lib/domain/secrets/master-key.ts';
import { MasterKey } from '../lib/store/secrets/master-key.ts';
import { Secrets } from '../lib/store/secrets/secrets.ts';
import { deps } from './deps.ts';

/** Invoked manually with `{ "step"?: "rotate" | "retire" }`. Returns `{ "current", "keys", "resealed" }`: key IDs only. */
export const handler = async (event: { step?: unknown } | null) => {
  const { store, environment } = deps();
  const masterKey = new MasterKey(environment.masterKeyParameter);
  return changeMasterKey(deps(), { masterKey, secrets: new Secrets(store.table, masterKey) }, event?.step);
};

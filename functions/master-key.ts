import { changeMasterKey } from '../lib/domain/secrets/master-key.ts';
import { MasterKey } from '../lib/store/secrets/master-key.ts';
import { Secrets } from '../lib/store/secrets/secrets.ts';
import { deps } from './deps.ts';

/** Invoked by hand: `{ "step"?: "rotate" | "retire" }`. Answers `{ "current", "keys", "resealed" }`: ids, no keys. */
export const handler = async (event: { step?: unknown } | null) => {
  const { store, environment } = deps();
  const masterKey = new MasterKey(environment.masterKeyParameter);
  return changeMasterKey(deps(), { masterKey, secrets: new Secrets(store.table, masterKey) }, event?.step);
};

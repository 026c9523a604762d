import type { Write } from '../../store/table/write.ts';
import type { Deps } from '../deps.ts';
import { sealing } from '../secrets/sealing.ts';

/** Owner of the secrets in the secret store. */
const OWNER = 'SETTINGS';

/** @returns the writes that store secrets encrypted, or delete those that are null or empty */
export function storeSecrets(deps: Deps, secrets: Readonly<Record<string, string | null>>): Promise<Write[]> {
  return Promise.all(
    Object.entries(secrets).map(async ([name, text]): Promise<Write> => {
      const sealed = sealing(deps);
      return text === null || text === '' ? sealed.removalOf(OWNER, name) : sealed.writeOf(OWNER, name, text);
    }),
  );
}

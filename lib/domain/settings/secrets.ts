import type { Write } from '../../store/table/write.ts';
import type { Deps } from '../deps.ts';

/** Owner of the secrets in the secret store. */
const OWNER = 'SETTINGS';

/** @returns the writes that store secrets encrypted, or delete those that are null or empty */
export function storeSecrets(
  { secrets: sealing }: Deps,
  secrets: Readonly<Record<string, string | null>>,
): Promise<Write[]> {
  return Promise.all(
    Object.entries(secrets).map(async ([name, text]): Promise<Write> => {
      if (sealing === undefined) throw new Error('this Lambda function has no access to the master key');
      return text === null || text === ''
        ? sealing.removalOf(OWNER, name)
        : sealing.writeOf(OWNER, name, text);
    }),
  );
}

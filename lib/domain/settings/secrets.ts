import type { Write } from '../../store/table/write.ts';
import type { Deps } from '../deps.ts';

/** Whose the secrets of settings are. */
const OWNER = 'SETTINGS';

/** @returns the writes that keep the instance's secrets, sealed, or take them away; nothing shows them again */
export function storeSecrets(
  { secrets: sealing }: Deps,
  secrets: Readonly<Record<string, string | null>>,
): Promise<Write[]> {
  return Promise.all(
    Object.entries(secrets).map(async ([name, text]): Promise<Write> => {
      if (sealing === undefined) throw new Error('this function has no right to seal');
      return text === null || text === ''
        ? sealing.removalOf(OWNER, name)
        : sealing.writeOf(OWNER, name, text);
    }),
  );
}

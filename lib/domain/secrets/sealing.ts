import type { Secrets } from '../../store/secrets/secrets.ts';
import type { Deps } from '../deps.ts';

/** The secrets, in a function that may use the master key. @throws Error in every other one: a fault of its area */
export function sealing({ secrets }: Pick<Deps, 'secrets'>): Secrets {
  if (secrets === undefined) throw new Error('this Lambda function has no access to the master key');
  return secrets;
}

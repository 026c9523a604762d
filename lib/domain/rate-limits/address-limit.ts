/** Of how many addresses at a time one may come, where an administrator limits it. */
import type { UserRecord } from '../../records/users.ts';
import { annotate } from '../../telemetry/correlation.ts';
import { log } from '../../telemetry/log.ts';
import type { Deps } from '../deps.ts';
import { forbidden } from '../errors.ts';
import { subjectOf } from './throttles.ts';

const NAME = 'unique_ips_limit';

/**
 * Whether somebody came from too many addresses, this one counted: beside the reads that say who it is. Who has one
 * IPv6 address has as many as their network.
 * @param address undefined: nobody knows
 */
export async function exceedsAddressLimit(
  { settings, store, now }: Deps,
  userId: number,
  address: string | undefined,
): Promise<boolean> {
  const {
    unique_ips_limit_enabled: on,
    unique_ips_limit_per_user: addresses,
    unique_ips_limit_time_window: seconds,
  } = await settings.current();
  if (!on || seconds === 0 || address === undefined) return false;
  const subject = subjectOf({ kind: 'address', address });
  try {
    return !(await store.userAddresses.admits(userId, subject, { addresses, seconds }, now()));
  } catch (error) {
    // As with throttles: a table that is busy closes nobody out.
    log('warn', 'addresses not counted', { cause: String(error) });
    return false;
  }
}

/** Administrators are counted and let in: one who chose too few could not choose again. @throws 403 */
export function requireFewAddresses(tooMany: boolean, { admin }: UserRecord): void {
  if (!tooMany || admin) return;
  annotate({ limit: NAME });
  throw forbidden('Too many IP addresses');
}

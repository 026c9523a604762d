/** The limit of IP addresses per user, if an administrator has enabled it. */
import type { UserRecord } from '../../records/users.ts';
import { annotate } from '../../telemetry/correlation.ts';
import { log } from '../../telemetry/log.ts';
import type { Deps } from '../deps.ts';
import { forbidden } from '../errors.ts';
import { subjectOf } from './throttles.ts';

const NAME = 'unique_ips_limit';

/**
 * Whether a user has used too many IP addresses, including this one. Runs in parallel with the authentication. An IPv6
 * address counts as its /64 network.
 * @param address undefined if unknown: not counted
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
    // Like throttles, it fails open: an overloaded table must not lock users out.
    log('warn', 'IP addresses not counted', { cause: String(error) });
    return false;
  }
}

/** Administrators are counted but not refused, so that they can correct a limit that is too low. @throws 403 */
export function requireFewAddresses(tooMany: boolean, { admin }: UserRecord): void {
  if (!tooMany || admin) return;
  annotate({ limit: NAME });
  throw forbidden('Too many IP addresses');
}

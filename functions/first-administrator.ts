import { firstAdministrator } from '../lib/domain/users/bootstrap.ts';
import { correlated } from '../lib/telemetry/correlation.ts';
import { deps } from './deps.ts';

/**
 * Invoked manually with `{ "token"?: string }`. Returns `{ "username", "token"? }`; the token only if it was created
 * now. Audit events carry Lambda's request ID of the invocation.
 */
export const handler = async (event: { token?: string } | null, context: { readonly awsRequestId: string }) =>
  correlated(context.awsRequestId, () => firstAdministrator(deps(), event?.token));

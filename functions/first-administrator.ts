import { firstAdministrator } from '../lib/domain/users/bootstrap.ts';
import { correlated } from '../lib/telemetry/correlation.ts';
import { deps } from './deps.ts';

/**
 * Invoked by hand: `{ "token"?: string }`. Answers `{ "username", "token"? }`; a token is told only when it was
 * made now. What is recorded leads to Lambda's report of the invocation.
 */
export const handler = async (event: { token?: string } | null, context: { readonly awsRequestId: string }) =>
  correlated(context.awsRequestId, () => firstAdministrator(deps(), event?.token));

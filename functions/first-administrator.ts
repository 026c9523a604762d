import { firstAdministrator } from '../lib/domain/bootstrap.ts';
import { deps } from './deps.ts';

/**
 * Invoked by hand: `{ "token"?: string }`. Answers `{ "username", "token"? }`; a token is told only when it was
 * made now.
 */
export const handler = async (event: { token?: string } | null) => firstAdministrator(deps(), event?.token);

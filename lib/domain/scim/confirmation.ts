/** Mail that asks whether an address is somebody's: the provider names addresses, and whoever owns a group has one. */
import { folded } from '../../store/row-keys/key.ts';
import type { Deps } from '../deps.ts';
import type { ScimCaller } from './caller.ts';
import { tooOften } from './errors.ts';

/** Mails that the providers of one owner can have sent, and that one address can be sent. */
const BY_ONE = { kind: 'scim-confirmation', limit: 1_000, seconds: 3_600 } as const;
const TO_ONE = { kind: 'scim-confirmation-to', limit: 20, seconds: 86_400 } as const;

/** Before such a mail goes into a transaction. Groups are made freely: whoever issued the token is counted. @throws 429 */
export async function enqueueConfirmation(
  { store, now }: Deps,
  { group }: ScimCaller,
  email: string,
): Promise<void> {
  const token = await store.scimTokens.ofGroup(group.id);
  const by = token === undefined ? `group ${group.id}` : String(token.createdById);
  const mayMail =
    (await store.rateLimits.take(TO_ONE, folded(email), now())) &&
    (await store.rateLimits.take(BY_ONE, by, now()));
  if (!mayMail) throw tooOften('Too many addresses were asked to be confirmed. Try again later.');
}

/** Confirmation mails for addresses given by a provider. They are limited, because any owner of a group can have one. */
import { folded } from '../../store/row-keys/key.ts';
import type { Deps } from '../deps.ts';
import type { ScimCaller } from './caller.ts';
import { tooOften } from './errors.ts';

/** Limits of mails per issuer of tokens, and per address. */
const BY_ONE = { kind: 'scim-confirmation', limit: 1_000, seconds: 3_600 } as const;
const TO_ONE = { kind: 'scim-confirmation-to', limit: 20, seconds: 86_400 } as const;

/** Call before such a mail is enqueued. Counts by the issuer of the token, because groups can be created freely. @throws 429 */
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
  if (!mayMail) throw tooOften('Too many confirmation mails have been requested. Try again later.');
}

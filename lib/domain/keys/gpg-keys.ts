import type { GpgKeyRecord } from '../../records/keys.ts';
import type { UserRecord } from '../../records/users.ts';
import { parsePgpKey } from '../../signatures/pgp-key.ts';
import type { Actor } from '../actor.ts';
import { type Audited, audited, auditedUser } from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';
import { invalid, notFound } from '../errors.ts';
import { orNotFound, translateStoreErrors } from './store-errors.ts';

const RESOURCE = 'GPG Key';

/**
 * @param text one armored public key
 * @throws 400 with problems by field: invalid key, key already in use, too many keys; 404 if the user was deleted
 */
export async function addGpgKey(
  deps: Deps,
  actor: Actor,
  owner: UserRecord,
  text: string,
): Promise<GpgKeyRecord> {
  const key = text.trim();
  const parsed = parsePgpKey(key);
  if (parsed === undefined) throw invalid({ key: ['is invalid'] });
  const { store } = deps;
  const { fingerprint } = parsed.primary.material;
  const [event, id, ...subkeyIds] = await Promise.all([
    audited(deps, actor, auditedKey('Added GPG key', owner, fingerprint)),
    store.gpgKeys.nextId(),
    ...parsed.subkeys.map(() => store.gpgKeys.nextSubkeyId()),
  ]);
  const record: GpgKeyRecord = {
    id,
    userId: owner.id,
    key,
    fingerprint,
    subkeys: parsed.subkeys.map(({ material }, at) => ({ id: subkeyIds[at]!, keyId: material.id })),
    createdAt: deps.now().toISOString(),
  };
  await translateStoreErrors(store.gpgKeys.add(record, { alongside: [event] }));
  return record;
}

/** @throws `404 GPG Key Not Found` */
export async function getGpgKey(deps: Deps, userId: number, id: number): Promise<GpgKeyRecord> {
  const key = await deps.store.gpgKeys.get(userId, id);
  if (key === undefined) throw notFound(RESOURCE);
  return key;
}

/**
 * Deletes a key. Signatures are verified at each request, so commits signed with it become unverified at once:
 * deletion and revocation are the same.
 * @throws `404 GPG Key Not Found` if it was deleted concurrently
 */
export async function removeGpgKey(
  deps: Deps,
  actor: Actor,
  owner: UserRecord,
  key: GpgKeyRecord,
): Promise<void> {
  const event = await audited(deps, actor, auditedKey('Removed GPG key', owner, key.fingerprint));
  await orNotFound(deps.store.gpgKeys.remove(key, { alongside: [event] }), RESOURCE);
}

const auditedKey = (message: string, owner: UserRecord, fingerprint: string): Audited => ({
  entity: auditedUser(owner),
  details: { custom_message: message, target_details: fingerprint.slice(-16).toUpperCase() },
});

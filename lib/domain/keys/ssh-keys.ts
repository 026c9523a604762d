import type { SshKeyRecord, SshKeyUsage } from '../../records/keys.ts';
import type { UserRecord } from '../../records/users.ts';
import { parseSshKey } from '../../signatures/ssh-key.ts';
import { outboxWrites } from '../../store/outbox/outbox.ts';
import type { Actor } from '../actor.ts';
import { type Audited, audited, auditedUser } from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';
import { badRequest, invalid, notFound } from '../errors.ts';
import { keyEvent } from '../hook-events/records.ts';
import { tellHooks } from '../hook-events/tell.ts';
import { problemsOf } from '../name-rules.ts';
import { keyExpiryProblems, keyKindProblems } from './ssh-key-rules.ts';
import { orNotFound, translateStoreErrors } from './store-errors.ts';

export interface SshKeyInput {
  readonly title: string;
  readonly key: string;
  readonly expiresAt: Date | undefined;
  readonly usage: SshKeyUsage;
}

/**
 * @throws 400 with problems by field: invalid key, key already in use, too many keys; 404 if the user was deleted
 */
export async function addSshKey(
  deps: Deps,
  actor: Actor,
  owner: UserRecord,
  input: SshKeyInput,
): Promise<SshKeyRecord> {
  const now = deps.now();
  const title = input.title.trim();
  const parsed = parseSshKey(input.key);
  const settings = await deps.settings.current();
  const problems = problemsOf({
    title:
      title === ''
        ? ["can't be blank"]
        : title.length > 255
          ? ['is too long (maximum is 255 characters)']
          : [],
    key: [
      ...(parsed === undefined ? ['is invalid'] : keyKindProblems(settings, parsed)),
      ...keyExpiryProblems(settings, input.expiresAt, now),
      ...(input.expiresAt !== undefined && input.expiresAt <= now ? ['has expired'] : []),
    ],
  });
  if (problems !== undefined || parsed === undefined) throw invalid(problems ?? {});
  const [id, event] = await Promise.all([
    deps.store.sshKeys.nextId(),
    audited(deps, actor, auditedKey('Added SSH key', owner, title)),
  ]);
  const record: SshKeyRecord = {
    id,
    userId: owner.id,
    title,
    key: parsed.line,
    md5: parsed.md5,
    sha256: parsed.sha256,
    usage: input.usage,
    createdAt: now.toISOString(),
    expiresAt: input.expiresAt?.toISOString() ?? null,
  };
  const told = await tellHooks(deps, actor, { kind: 'system' }, [keyEvent('create', owner, record)]);
  const alongside = [event, ...outboxWrites(told)];
  await translateStoreErrors(deps.store.sshKeys.add(record, { alongside }));
  await deps.store.outbox.deliver(told);
  return record;
}

/** @throws `404 Key Not Found` */
export async function getSshKey(deps: Deps, userId: number, id: number): Promise<SshKeyRecord> {
  const key = await deps.store.sshKeys.get(userId, id);
  if (key === undefined) throw notFound('Key');
  return key;
}

/** @throws `404 Key Not Found` if it was deleted concurrently */
export async function removeSshKey(
  deps: Deps,
  actor: Actor,
  owner: UserRecord,
  key: SshKeyRecord,
): Promise<void> {
  const event = await audited(deps, actor, auditedKey('Removed SSH key', owner, key.title));
  const told = await tellHooks(deps, actor, { kind: 'system' }, [keyEvent('destroy', owner, key)]);
  const alongside = [event, ...outboxWrites(told)];
  await orNotFound(deps.store.sshKeys.remove(key, { alongside }), 'Key');
  await deps.store.outbox.deliver(told);
}

const auditedKey = (message: string, owner: UserRecord, title: string): Audited => ({
  entity: auditedUser(owner),
  details: { custom_message: message, target_details: title },
});

export interface KeyOfUser {
  readonly key: SshKeyRecord;
  readonly user: UserRecord;
}

/** Returns a key with its owner. @throws `404 Key Not Found` */
export async function sshKeyById(deps: Deps, id: number): Promise<KeyOfUser> {
  return withUser(deps, await deps.store.sshKeys.byId(id));
}

/**
 * @param text MD5 with colons or SHA-256 in base64, with or without the name of the hash as a prefix
 * @throws 400 for an invalid fingerprint, `404 Key Not Found`
 */
export async function sshKeyByFingerprint(deps: Deps, text: string): Promise<KeyOfUser> {
  const [, md5] = /^(?:MD5:)?((?:[0-9a-f]{2}:){15}[0-9a-f]{2})$/i.exec(text.trim()) ?? [];
  const [, sha256] = /^(?:SHA256:)?([A-Za-z0-9+/]{43})=?$/.exec(text.trim()) ?? [];
  const fingerprint = md5?.toLowerCase() ?? sha256;
  if (fingerprint === undefined) throw badRequest('Failed to return the key');
  return withUser(deps, await deps.store.sshKeys.byFingerprint(fingerprint));
}

async function withUser(deps: Deps, key: SshKeyRecord | undefined): Promise<KeyOfUser> {
  const user = key && (await deps.store.users.get(key.userId));
  if (key === undefined || user === undefined) throw notFound('Key');
  return { key, user };
}

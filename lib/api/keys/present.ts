import type { GpgKeyRecord, SshKeyRecord } from '../../records/keys.ts';
import type { UserRecord } from '../../records/users.ts';

/** The comment of the key is replaced by the name of its user: the original is often an email address. */
export function sshKey(key: SshKeyRecord, user: Pick<UserRecord, 'name'>, baseUrl: string) {
  return {
    id: key.id,
    title: key.title,
    created_at: key.createdAt,
    expires_at: key.expiresAt,
    key: `${key.key} ${user.name} (${new URL(baseUrl).hostname})`,
    usage_type: key.usage,
  };
}

export const gpgKey = ({ id, key, createdAt }: GpgKeyRecord) => ({ id, key, created_at: createdAt });

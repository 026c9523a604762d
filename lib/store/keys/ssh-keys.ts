import type { SshKeyRecord } from '../../records/keys.ts';
import { sshFingerprintKey, sshKeyIdKey } from '../row-keys/keys.ts';
import { claimOf, OwnedRows, type WriteOptions } from './owned-rows.ts';

export const MAX_SSH_KEYS = 100;

/** SSH keys of users. Fingerprints are unique on an instance. */
export class SshKeys extends OwnedRows<SshKeyRecord> {
  /** @throws NameTaken `fingerprint`, LimitReached, Missing when the user does not exist */
  async add(record: SshKeyRecord, options: WriteOptions = {}): Promise<void> {
    const claims = [
      claimOf(sshKeyIdKey(record.id), 'id', record),
      claimOf(sshFingerprintKey(record.md5), 'fingerprint', record),
      claimOf(sshFingerprintKey(record.sha256), 'fingerprint', record),
    ];
    await this.create(record, claims, options);
  }

  /** By id, without knowing the user: two reads. */
  byId(id: number): Promise<SshKeyRecord | undefined> {
    return this.claimed(sshKeyIdKey(id));
  }

  /** @param fingerprint MD5 with colons, or SHA-256 in base64 without padding */
  byFingerprint(fingerprint: string): Promise<SshKeyRecord | undefined> {
    return this.claimed(sshFingerprintKey(fingerprint));
  }
}

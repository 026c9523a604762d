import type { GpgKeyRecord } from '../../records/keys.ts';
import type { Outbox } from '../outbox/outbox.ts';
import { gpgKeyIdKey } from '../row-keys/keys.ts';
import type { Counters } from '../table/counters.ts';
import type { Table } from '../table/table.ts';
import { claimOf, type OwnedKind, OwnedRows, type WriteOptions } from './owned-rows.ts';

export const MAX_GPG_KEYS = 50;

/**
 * GPG keys of users. The ids of keys and of signing subkeys are unique on an instance, because signatures refer to keys
 * by id.
 */
export class GpgKeys extends OwnedRows<GpgKeyRecord> {
  readonly #counters: Counters;

  constructor(table: Table, counters: Counters, outbox: Outbox, kind: OwnedKind) {
    super(table, counters, outbox, kind);
    this.#counters = counters;
  }

  nextSubkeyId(): Promise<number> {
    return this.#counters.next('gpg-subkey');
  }

  /** @throws NameTaken `fingerprint`, LimitReached, Missing when the user does not exist */
  async add(record: GpgKeyRecord, options: WriteOptions = {}): Promise<void> {
    const ids = [record.fingerprint.slice(-16), ...record.subkeys.map(({ keyId }) => keyId)];
    await this.create(
      record,
      ids.map((id) => claimOf(gpgKeyIdKey(id), 'fingerprint', record)),
      options,
    );
  }

  /** Returns the key with this id, or the key that has a subkey with it: two reads. */
  bySigner(keyId: string): Promise<GpgKeyRecord | undefined> {
    return this.claimed(gpgKeyIdKey(keyId));
  }
}

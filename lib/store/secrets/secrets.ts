/**
 * Texts that the service must be able to read again: keys and passwords for other services. Each is a row of its own,
 * encrypted with the master key, so that no record, list or cache contains one. The table or a backup of it alone does
 * not reveal them.
 */
import { decrypt, encrypt } from '../../sealing/cipher.ts';
import { ConditionFailed } from '../errors.ts';
import type { Key } from '../row-keys/key.ts';
import { SECRET_SHARDS, secretKey, secretPartition } from '../row-keys/secrets.ts';
import type { Table } from '../table/table.ts';
import type { Delete, Item, Put } from '../table/write.ts';
import type { Keyring, MasterKeys } from './master-key.ts';

export interface ResealReport {
  /** Number of secrets encrypted again with the current key. */
  readonly resealed: number;
  /** Number of secrets that can be decrypted but are still encrypted with another key than the current one. */
  readonly left: number;
}

export class Secrets {
  readonly #table: Table;
  readonly #keyring: Keyring;
  constructor(table: Table, keyring: Keyring) {
    this.#table = table;
    this.#keyring = keyring;
  }

  /** @returns the write of the secret, for the transaction that stores the record to which it belongs */
  async writeOf(owner: string, name: string, text: string): Promise<Put> {
    const key = secretKey(owner, name);
    return { put: { ...key, ...(await this.sealed(key, text)) } };
  }

  /**
   * Seals a text for a row that has other attributes too: neither `key` nor `sealed`. Its partition is one of the
   * secrets, where {@link reseal} finds it.
   */
  async sealed(key: Key, text: string): Promise<{ readonly key: string; readonly sealed: Uint8Array }> {
    return seal(await this.#keyring.keys(), key, text);
  }

  /** Opens what {@link sealed} has sealed. @throws as {@link read} */
  async opened(item: Item): Promise<string> {
    return open(await this.#keyring.keys(item['key'] as string), item);
  }

  removalOf(owner: string, name: string): Delete {
    return { delete: secretKey(owner, name) };
  }

  /** @returns undefined when there is none. @throws Error when it was encrypted with a key that no longer exists */
  async read(owner: string, name: string): Promise<string | undefined> {
    const item = await this.#table.get(secretKey(owner, name));
    return item && this.opened(item);
  }

  /** Encrypts with the current key what is encrypted with another. May be interrupted and repeated at any point. */
  async reseal(): Promise<ResealReport> {
    const keys = await this.#keyring.keys();
    let resealed = 0;
    let remaining = 0;
    for (let shard = 0; shard < SECRET_SHARDS; shard++) {
      for await (const item of this.#table.queryAll({ partition: secretPartition(shard) })) {
        const previousKey = item['key'] as string;
        if (previousKey === keys.current) continue;
        const key: Key = { pk: item['pk'] as string, sk: item['sk'] as string };
        const all = previousKey in keys.keys ? keys : await this.#keyring.keys(previousKey);
        try {
          await this.#table.update({
            update: key,
            set: seal(keys, key, open(all, item)),
            if: '#key = :was AND #sealed = :sealed',
            values: { was: previousKey, sealed: item['sealed'] },
          });
          resealed++;
        } catch (error) {
          // The secret was replaced or deleted meanwhile; the process that replaced it may not know the new key yet.
          if (!(error instanceof ConditionFailed)) throw error;
          if (error.item !== undefined && error.item['key'] !== keys.current) remaining++;
        }
      }
    }
    return { resealed, left: remaining };
  }
}

/** Encrypts a text for one row: it cannot be decrypted in another row. */
function seal({ current, keys }: MasterKeys, key: Key, text: string): { key: string; sealed: Uint8Array } {
  return { key: current, sealed: encrypt(keys[current]!.key, text, `${key.pk} ${key.sk}`) };
}

function open({ keys }: MasterKeys, item: Item): string {
  const key = keys[item['key'] as string];
  if (key === undefined) throw new Error(`the master key has no key ${item['key']}: a secret stays shut`);
  return decrypt(key.key, item['sealed'] as Uint8Array, `${item['pk']} ${item['sk']}`);
}

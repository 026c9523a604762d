/**
 * Texts that the service must read again: keys and passwords for other services. Each is a row of its own, sealed with
 * the master key, so that no record, list or cache holds one. Whoever has the table, or a backup of it, has none.
 */
import { decrypt, encrypt } from '../../sealing/cipher.ts';
import { ConditionFailed } from '../errors.ts';
import type { Key } from '../row-keys/key.ts';
import { SECRET_SHARDS, secretKey, secretPartition } from '../row-keys/secrets.ts';
import type { Table } from '../table/table.ts';
import type { Delete, Item, Put } from '../table/write.ts';
import type { Keyring, MasterKeys } from './master-key.ts';

export interface ResealReport {
  /** Sealed anew with the current key. */
  readonly resealed: number;
  /** Of the secrets that open, those that are under another key than the current one all the same. */
  readonly left: number;
}

export class Secrets {
  readonly #table: Table;
  readonly #keyring: Keyring;
  constructor(table: Table, keyring: Keyring) {
    this.#table = table;
    this.#keyring = keyring;
  }

  /** @returns the write of it, for the transaction that keeps what belongs to it */
  async writeOf(owner: string, name: string, text: string): Promise<Put> {
    const key = secretKey(owner, name);
    return { put: { ...key, ...seal(await this.#keyring.keys(), key, text) } };
  }

  removalOf(owner: string, name: string): Delete {
    return { delete: secretKey(owner, name) };
  }

  /** @returns undefined when there is none @throws when it was sealed with a key that is gone */
  async read(owner: string, name: string): Promise<string | undefined> {
    const item = await this.#table.get(secretKey(owner, name));
    if (item === undefined) return undefined;
    return open(await this.#keyring.keys(item['key'] as string), item);
  }

  /** Seals with the current key what is sealed with another. May stop and begin again anywhere. */
  async reseal(): Promise<ResealReport> {
    const keys = await this.#keyring.keys();
    let resealed = 0;
    let left = 0;
    for (let shard = 0; shard < SECRET_SHARDS; shard++) {
      for await (const item of this.#table.queryAll({ partition: secretPartition(shard) })) {
        const was = item['key'] as string;
        if (was === keys.current) continue;
        const key: Key = { pk: item['pk'] as string, sk: item['sk'] as string };
        const all = was in keys.keys ? keys : await this.#keyring.keys(was);
        try {
          await this.#table.update({
            update: key,
            set: seal(keys, key, open(all, item)),
            if: '#key = :was AND #sealed = :sealed',
            values: { was, sealed: item['sealed'] },
          });
          resealed++;
        } catch (error) {
          // It was given anew meanwhile, or taken away; by whom may not know the new key yet.
          if (!(error instanceof ConditionFailed)) throw error;
          if (error.item !== undefined && error.item['key'] !== keys.current) left++;
        }
      }
    }
    return { resealed, left };
  }
}

/** For its row alone: moved to another it does not open. */
function seal({ current, keys }: MasterKeys, key: Key, text: string): { key: string; sealed: Uint8Array } {
  return { key: current, sealed: encrypt(keys[current]!.key, text, `${key.pk} ${key.sk}`) };
}

function open({ keys }: MasterKeys, item: Item): string {
  const key = keys[item['key'] as string];
  if (key === undefined) throw new Error(`the master key has no key ${item['key']}: a secret stays shut`);
  return decrypt(key.key, item['sealed'] as Uint8Array, `${item['pk']} ${item['sk']}`);
}

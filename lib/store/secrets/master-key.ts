/**
 * The keys that secrets in the table are sealed with: one SecureString of the Parameter Store, made by the service
 * itself, in no template and no backup of the table. The only module that knows that SDK, so that only functions that
 * seal carry it.
 */
import { randomUUID } from 'node:crypto';
import { GetParameterCommand, PutParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { newKey } from '../../sealing/cipher.ts';
import { transports } from '../clients.ts';
import { StoreUnavailable } from '../errors.ts';

export interface MasterKeys {
  /** The id of the key that new secrets are sealed with. */
  readonly current: string;
  /** Base64 of 32 bytes by id: the current one, and those that some secrets may still be sealed with. */
  readonly keys: Readonly<Record<string, { readonly key: string; readonly since: string }>>;
}

/** What seals and opens. */
export interface Keyring {
  /**
   * @param known an id that must be among them: when it is not, they are read anew
   * @returns the keys; made now where there were none
   * @throws StoreUnavailable
   */
  keys(known?: string): Promise<MasterKeys>;
}

/** Milliseconds for which a process goes on sealing with a key that was replaced. */
export const KEYS_CACHE_MS = 60_000;

export class MasterKey implements Keyring {
  readonly #name: string;
  readonly #client: SSMClient;
  #kept: { readonly at: number; readonly keys: Promise<MasterKeys> } | undefined;

  /** @param name of the parameter, such as `/lemnos/master-key` */
  constructor(name: string, client = new SSMClient({ maxAttempts: 4, ...transports().ssm })) {
    this.#name = name;
    this.#client = client;
  }

  async keys(known?: string): Promise<MasterKeys> {
    const kept = this.#kept;
    if (kept !== undefined && Date.now() - kept.at < KEYS_CACHE_MS) {
      const keys = await kept.keys;
      if (known === undefined || known in keys.keys) return keys;
    }
    const entry = { at: Date.now(), keys: this.#readOrMake() };
    this.#kept = entry;
    entry.keys.catch(() => {
      if (this.#kept === entry) this.#kept = undefined;
    });
    return entry.keys;
  }

  /** A new key for all that is sealed from now on. @returns what is in force then */
  async rotate(now: Date): Promise<MasterKeys> {
    const { keys, version } = await this.#present();
    const current = randomUUID();
    const since = now.toISOString();
    return this.#replace({ current, keys: { ...keys.keys, [current]: { key: newKey(), since } } }, version);
  }

  /** Forgets every key but the current one: what was sealed with them opens no more. */
  async retire(): Promise<MasterKeys> {
    const { keys, version } = await this.#present();
    const { current } = keys;
    return this.#replace({ current, keys: { [current]: keys.keys[current]! } }, version);
  }

  async #present(): Promise<{ keys: MasterKeys; version: number }> {
    await this.#readOrMake();
    const read = await this.#read();
    if (read === undefined) throw new Error('the master key was taken away while it was changed');
    return read;
  }

  async #readOrMake(): Promise<MasterKeys> {
    const read = await this.#read();
    if (read !== undefined) return read.keys;
    const current = randomUUID();
    const keys = { current, keys: { [current]: { key: newKey(), since: new Date().toISOString() } } };
    try {
      await this.#put(keys, false);
      return keys;
    } catch (error) {
      // Another process made it first: everybody seals with that one.
      const other = (error as Error).name === 'ParameterAlreadyExists' ? await this.#read() : undefined;
      if (other === undefined) throw error;
      return other.keys;
    }
  }

  async #read(): Promise<{ keys: MasterKeys; version: number } | undefined> {
    try {
      const { Parameter } = await this.#client.send(
        new GetParameterCommand({ Name: this.#name, WithDecryption: true }),
      );
      return { keys: JSON.parse(Parameter?.Value ?? '') as MasterKeys, version: Parameter?.Version ?? 0 };
    } catch (error) {
      if ((error as Error).name === 'ParameterNotFound') return undefined;
      throw failed(error);
    }
  }

  /** The Parameter Store knows no conditional write: who finds that another was written in between says so. */
  async #replace(keys: MasterKeys, version: number): Promise<MasterKeys> {
    const written = await this.#put(keys, true);
    this.#kept = undefined;
    if (written !== version + 1) throw new Error('somebody else changed the master key at the same time');
    return keys;
  }

  async #put(keys: MasterKeys, overwrite: boolean): Promise<number> {
    try {
      const { Version } = await this.#client.send(
        new PutParameterCommand({
          Name: this.#name,
          Type: 'SecureString',
          Value: JSON.stringify(keys),
          Overwrite: overwrite,
        }),
      );
      return Version ?? 0;
    } catch (error) {
      throw (error as Error).name === 'ParameterAlreadyExists' ? error : failed(error);
    }
  }
}

/** The SDK's own exceptions leave this module as the store's. */
const failed = (error: unknown): StoreUnavailable => new StoreUnavailable(true, error);

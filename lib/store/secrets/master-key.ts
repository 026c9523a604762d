/**
 * The master keys, with which secrets in the table are encrypted: one SecureString in the Parameter Store, created by
 * the service itself, in no template and in no backup of the table. The only module that imports this SDK, so that only
 * functions that handle secrets bundle it.
 */
import { randomUUID } from 'node:crypto';
import { GetParameterCommand, PutParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { newKey } from '../../sealing/cipher.ts';
import { transports } from '../clients.ts';
import { StoreUnavailable } from '../errors.ts';

export interface MasterKeys {
  /** The id of the key that encrypts new secrets. */
  readonly current: string;
  /** Keys by id, base64 of 32 bytes: the current one, and those with which some secrets may still be encrypted. */
  readonly keys: Readonly<Record<string, { readonly key: string; readonly since: string }>>;
}

/** Provides the keys that encrypt and decrypt secrets. */
export interface Keyring {
  /**
   * @param known an id that the caller needs: if the cached keys do not contain it, they are read again
   * @returns the keys; created if there were none
   * @throws StoreUnavailable
   */
  keys(known?: string): Promise<MasterKeys>;
}

/** Milliseconds for which a process may continue to encrypt with a replaced key. */
export const KEYS_CACHE_MS = 60_000;

export class MasterKey implements Keyring {
  readonly #name: string;
  readonly #client: SSMClient;
  #kept: { readonly at: number; readonly keys: Promise<MasterKeys> } | undefined;

  /** @param name the parameter's name, such as `/lemnos/master-key` */
  constructor(name: string, client = new SSMClient({ maxAttempts: 4, ...transports().ssm })) {
    this.#name = name;
    this.#client = client;
  }

  async keys(known?: string): Promise<MasterKeys> {
    const cached = this.#kept;
    if (cached !== undefined && Date.now() - cached.at < KEYS_CACHE_MS) {
      const keys = await cached.keys;
      if (known === undefined || known in keys.keys) return keys;
    }
    const entry = { at: Date.now(), keys: this.#readOrMake() };
    this.#kept = entry;
    entry.keys.catch(() => {
      if (this.#kept === entry) this.#kept = undefined;
    });
    return entry.keys;
  }

  /** Creates a key with which all secrets are encrypted from now on. @returns the keys after the change */
  async rotate(now: Date): Promise<MasterKeys> {
    const { keys, version } = await this.#present();
    const current = randomUUID();
    const since = now.toISOString();
    return this.#replace({ current, keys: { ...keys.keys, [current]: { key: newKey(), since } } }, version);
  }

  /** Deletes every key but the current one: secrets encrypted with the others can no longer be decrypted. */
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
      // Another process created it first: every process uses that one.
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

  /** The Parameter Store has no conditional writes: a concurrent write is only detected afterwards, and throws. */
  async #replace(keys: MasterKeys, version: number): Promise<MasterKeys> {
    const written = await this.#put(keys, true);
    this.#kept = undefined;
    if (written !== version + 1) throw new Error('another process changed the master key at the same time');
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

/** Translates the SDK's exceptions into the store's. */
const failed = (error: unknown): StoreUnavailable => new StoreUnavailable(true, error);

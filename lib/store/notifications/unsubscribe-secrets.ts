/** Secrets that sign links in mail. Each is created once, by the first caller that needs it. */
import { randomBytes } from 'node:crypto';
import { ConditionFailed } from '../errors.ts';
import { linkSecretKey } from '../row-keys/notifications.ts';
import type { Table } from '../table/table.ts';
import { ABSENT } from '../table/write.ts';

export class LinkSecrets {
  readonly #table: Table;
  readonly #known = new Map<string, Promise<Buffer>>();
  constructor(table: Table) {
    this.#table = table;
  }

  /** @param purpose what the links do; each purpose has a secret of its own */
  get(purpose: string): Promise<Buffer> {
    let secret = this.#known.get(purpose);
    if (secret === undefined) {
      secret = this.#read(purpose);
      this.#known.set(purpose, secret);
      secret.catch(() => this.#known.delete(purpose));
    }
    return secret;
  }

  async #read(purpose: string): Promise<Buffer> {
    const key = linkSecretKey(purpose);
    const found = await this.#table.get(key);
    if (found !== undefined) return Buffer.from(found['secret'] as string, 'base64url');
    const secret = randomBytes(32);
    try {
      await this.#table.put({ put: { ...key, secret: secret.toString('base64url') }, if: ABSENT });
      return secret;
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
      return this.#read(purpose);
    }
  }
}

/** Links by which a password may be chosen: found by the digest of their token, one at a time for each user. */

import type { UserRecord } from '../../records/users.ts';
import { passwordResetKey } from '../row-keys/users.ts';
import type { Table } from '../table/table.ts';
import type { Delete, Put } from '../table/write.ts';
import type { Users } from './users.ts';

/** As a user's record names the one that is in force. */
export type PasswordReset = NonNullable<UserRecord['passwordReset']>;

export class PasswordResets {
  readonly #table: Table;
  readonly #users: Users;
  constructor(table: Table, users: Users) {
    this.#table = table;
    this.#users = users;
  }

  /** For the transaction that puts it into the user's record. */
  createWrite(userId: number, { hash, expiresAt }: PasswordReset): Put {
    const ttl = Math.ceil(Date.parse(expiresAt) / 1000);
    return { put: { ...passwordResetKey(hash), userId, ttl } };
  }

  /** For the transaction that takes it out. */
  removeWrite({ hash }: PasswordReset): Delete {
    return { delete: passwordResetKey(hash) };
  }

  /** Whose link it is: two reads. One that was replaced or used leads nowhere, and neither does one whose time is over. */
  async userOf(hash: string, now: Date): Promise<UserRecord | undefined> {
    const row = await this.#table.get(passwordResetKey(hash));
    const user = row && (await this.#users.get(row['userId'] as number));
    const reset = user?.passwordReset;
    return reset?.hash === hash && reset.expiresAt > now.toISOString() ? user : undefined;
  }
}

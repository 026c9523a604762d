/** Password reset links: looked up by the digest of their token. A user has at most one valid link at a time. */

import type { UserRecord } from '../../records/users.ts';
import { passwordResetKey } from '../row-keys/users.ts';
import type { Table } from '../table/table.ts';
import type { Delete, Put } from '../table/write.ts';
import type { Users } from './users.ts';

/** The valid reset link, as stored in the user's record. */
export type PasswordReset = NonNullable<UserRecord['passwordReset']>;

export class PasswordResets {
  readonly #table: Table;
  readonly #users: Users;
  constructor(table: Table, users: Users) {
    this.#table = table;
    this.#users = users;
  }

  /** For the transaction that stores the reset in the user's record. */
  createWrite(userId: number, { hash, expiresAt }: PasswordReset): Put {
    const ttl = Math.ceil(Date.parse(expiresAt) / 1000);
    return { put: { ...passwordResetKey(hash), userId, ttl } };
  }

  /** For the transaction that removes the reset from the user's record. */
  removeWrite({ hash }: PasswordReset): Delete {
    return { delete: passwordResetKey(hash) };
  }

  /** Returns the user of a link, in two reads; undefined if the link was replaced, was used or has expired. */
  async userOf(hash: string, now: Date): Promise<UserRecord | undefined> {
    const row = await this.#table.get(passwordResetKey(hash));
    const user = row && (await this.#users.get(row['userId'] as number));
    const reset = user?.passwordReset;
    return reset?.hash === hash && reset.expiresAt > now.toISOString() ? user : undefined;
  }
}

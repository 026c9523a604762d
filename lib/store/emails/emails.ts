import type { EmailRecord } from '../../records/emails.ts';
import { Missing, TransactionRefused } from '../errors.ts';
import { OwnedRows, type WriteOptions } from '../keys/owned-rows.ts';
import { confirmationKey } from '../row-keys/emails.ts';
import { ownKey } from '../row-keys/keys.ts';
import { nameKey } from '../row-keys/names.ts';
import type { Table } from '../table/table.ts';
import { claim } from '../table/unique-names.ts';
import { PRESENT, type Put, type Write } from '../table/write.ts';

export const MAX_EMAILS = 50;

/** What the token of a confirmation link confirms. */
export interface Confirmation {
  readonly userId: number;
  /** The id of the address's row; null for the primary address, which is in the user's record. */
  readonly emailId: number | null;
  readonly email: string;
  /** ISO 8601. */
  readonly expiresAt: string;
}

/** Secondary email addresses of users. All addresses of an instance are unique, ignoring case. */
export class Emails extends OwnedRows<EmailRecord> {
  /** @throws NameTaken `email`, LimitReached, Missing when the user does not exist */
  async add(record: EmailRecord, options: WriteOptions = {}): Promise<void> {
    const extra = { emailId: record.id, ...(record.confirmedAt === null ? { confirmed: false } : {}) };
    const owner = { type: 'user', id: record.userId } as const;
    await this.create(record, [claim('email', record.email, owner, 'email', extra)], options);
  }
}

/** Tokens of confirmation links, stored under their digest. */
export class Confirmations {
  readonly #table: Table;
  constructor(table: Table) {
    this.#table = table;
  }

  /** For the transaction that enqueues the mail with the link. */
  createWrite(hash: string, confirmation: Confirmation): Put {
    const ttl = Math.ceil(Date.parse(confirmation.expiresAt) / 1000);
    return { put: { ...confirmationKey(hash), ...confirmation, ttl } };
  }

  async get(hash: string, now: Date): Promise<Confirmation | undefined> {
    const item = await this.#table.get(confirmationKey(hash));
    if (item === undefined) return undefined;
    const { pk: _p, sk: _s, ttl: _t, ...confirmation } = item;
    const found = confirmation as unknown as Confirmation;
    return found.expiresAt > now.toISOString() ? found : undefined;
  }

  /** For the transaction that uses the token, which works only once; refused as `token`. */
  removeWrite(hash: string): Write {
    return { delete: confirmationKey(hash), if: PRESENT, reason: 'token' };
  }

  /** Confirms a secondary address. @throws Missing when the token was used or the address does not exist */
  async confirm(
    hash: string,
    { userId, emailId, email }: Confirmation,
    now: Date,
    alongside: readonly Write[] = [],
  ): Promise<void> {
    if (emailId === null) throw new Missing('email');
    try {
      await this.#table.transact([
        this.removeWrite(hash),
        {
          update: ownKey(userId, 'ADDRESS', emailId),
          set: { confirmedAt: now.toISOString() },
          if: PRESENT,
          reason: 'email',
        },
        {
          update: nameKey('email', email),
          remove: ['confirmed'],
          if: '#id = :userId AND #emailId = :emailId',
          values: { userId, emailId },
          reason: 'email',
        },
        ...alongside,
      ]);
    } catch (error) {
      throw error instanceof TransactionRefused ? new Missing('email') : error;
    }
  }
}

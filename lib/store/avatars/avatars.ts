/**
 * The bytes of avatars: a row beside the subject's record, small enough to be written in the record's own transaction,
 * so that the two always describe the same image and no image is orphaned.
 */

import type { AvatarOwner, AvatarRecord } from '../../records/avatars.ts';
import { avatarKey } from '../row-keys/avatars.ts';
import type { Table } from '../table/table.ts';
import type { Write } from '../table/write.ts';

export interface StoredAvatar extends AvatarRecord {
  readonly bytes: Uint8Array;
}

/** Returns the write that stores an avatar. @param avatar undefined deletes it */
export const avatarWrite = (subject: AvatarOwner, avatar: StoredAvatar | undefined): Write =>
  avatar === undefined
    ? { delete: avatarKey(subject) }
    : { put: { ...avatarKey(subject), ...avatar }, reason: 'avatar' };

export class Avatars {
  readonly #table: Table;
  constructor(table: Table) {
    this.#table = table;
  }

  /** Returns an avatar, in one read of up to 200 KiB. */
  async get(subject: AvatarOwner): Promise<StoredAvatar | undefined> {
    const row = await this.#table.get(avatarKey(subject));
    if (row === undefined) return undefined;
    const { pk: _pk, sk: _sk, ...avatar } = row;
    return avatar as unknown as StoredAvatar;
  }
}

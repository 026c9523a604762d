/**
 * Avatars' bytes: a row beside the record, small enough to be written in the record's own transaction, so that the two
 * never tell of different images and none is left over.
 */

import type { AvatarRecord } from '../../records/avatars.ts';
import type { Subject } from '../../records/subject.ts';
import { avatarKey } from '../row-keys/avatars.ts';
import type { Table } from '../table/table.ts';
import type { Write } from '../table/write.ts';

export interface StoredAvatar extends AvatarRecord {
  readonly bytes: Uint8Array;
}

/** @param avatar undefined: none any more */
export const avatarWrite = (subject: Subject, avatar: StoredAvatar | undefined): Write =>
  avatar === undefined
    ? { delete: avatarKey(subject) }
    : { put: { ...avatarKey(subject), ...avatar }, reason: 'avatar' };

export class Avatars {
  readonly #table: Table;
  constructor(table: Table) {
    this.#table = table;
  }

  /** One read, of up to 200 KiB. */
  async get(subject: Subject): Promise<StoredAvatar | undefined> {
    const row = await this.#table.get(avatarKey(subject));
    if (row === undefined) return undefined;
    const { pk: _pk, sk: _sk, ...avatar } = row;
    return avatar as unknown as StoredAvatar;
  }
}

/** Changes of a group's memberships that leave somebody who owns it. */

import type { GroupRecord } from '../../records/groups.ts';
import type { AccessLevel, MemberRecord, MemberSource } from '../../records/members.ts';
import { LastOwner, Missing, Stale, TransactionRefused } from '../errors.ts';
import {
  changedMember,
  checkUnchangedMember,
  fromItem,
  membershipChange,
  memberWrite,
  unexpired,
} from '../members/item.ts';
import type { AlongsideChange, Members } from '../members/members.ts';
import type { Key } from '../row-keys/key.ts';
import { MEMBER, memberKey, memberPartition } from '../row-keys/members.ts';
import type { Table } from '../table/table.ts';
import type { Check, Delete, Update, Write } from '../table/write.ts';

interface Options {
  /** Whether somebody else has to own the group: an outermost one, which inherits no owner. */
  readonly needsOwner: boolean;
}

interface RemovalOptions extends Options {
  readonly alongside?: readonly Write[];
}

interface ChangeOptions extends Options {
  readonly alongside?: AlongsideChange;
}

/** Tries while others change the same memberships. */
const TRIES = 5;
const OWNER = 50 satisfies AccessLevel;

export class GroupOwners {
  readonly #table: Table;
  readonly #members: Members;

  constructor(table: Table, members: Members) {
    this.#table = table;
    this.#members = members;
  }

  /** @throws Missing when there is no such membership; LastOwner; Stale when others change the same all the time */
  async remove(groupId: number, userId: number, options: RemovalOptions): Promise<void> {
    const { alongside = [] } = options;
    await this.#write(groupId, userId, options, async (key) => [{ delete: key }, ...alongside]);
  }

  /** Changes level and, when given, expiry. @throws as {@link remove} */
  async change(
    groupId: number,
    userId: number,
    change: { accessLevel: AccessLevel; expiresAt?: string | null },
    options: ChangeOptions,
  ): Promise<MemberRecord> {
    const written = membershipChange(change);
    const stays = (was: MemberRecord) => {
      const is = changedMember(was, change);
      return is.accessLevel === OWNER && is.expiresAt === null;
    };
    const was = await this.#write(
      groupId,
      userId,
      options,
      async (key, was) => [
        { update: key, ...written },
        ...((await options.alongside?.(was, changedMember(was, change))) ?? []),
      ],
      stays,
    );
    return changedMember(was, change);
  }

  /**
   * What sees to it, in a transaction that takes a group out of the groups above, that somebody owns it: an owner it has
   * is still one, or else `heir` becomes it. Refused as `owner` when an owner leaves at this moment.
   */
  async secured(groupId: number, heir: number, now: Date): Promise<Write> {
    const source: MemberSource = { kind: 'group', id: groupId };
    const owner = await this.#otherOwner(source, undefined);
    if (owner !== undefined) return this.#stillOwner(source, owner);
    const at = now.toISOString();
    const record: MemberRecord = {
      source,
      userId: heir,
      accessLevel: OWNER,
      createdAt: at,
      expiresAt: null,
      createdById: heir,
    };
    const { put } = memberWrite(record);
    // Whatever they were in it before.
    return { put, reason: 'owner' };
  }

  /** Whether a group would be without an owner if that one left: groups inside others inherit theirs. */
  async isSole({ id, parentId }: Pick<GroupRecord, 'id' | 'parentId'>, userId: number): Promise<boolean> {
    return parentId === null && (await this.#otherOwner({ kind: 'group', id }, userId)) === undefined;
  }

  /**
   * What takes an owner out of an outermost group, in a transaction of the caller's, on condition that another stays;
   * refused as `member` or `owner`. @throws LastOwner
   */
  async departure(groupId: number, userId: number): Promise<Write[]> {
    const source: MemberSource = { kind: 'group', id: groupId };
    const other = await this.#otherOwner(source, userId);
    if (other === undefined) throw new LastOwner();
    return [{ delete: memberKey(source, userId), reason: 'member' }, this.#stillOwner(source, other)];
  }

  #stillOwner(source: MemberSource, userId: number): Check {
    return {
      check: memberKey(source, userId),
      if: '#accessLevel = :owner AND (attribute_type(#expiresAt, :null) OR #expiresAt > :today)',
      values: { owner: OWNER, null: 'NULL', today: new Date().toISOString().slice(0, 10) },
      reason: 'owner',
    };
  }

  /**
   * On condition that the membership is still as it was read, and that the other owner still is one: of two
   * owners who remove each other, one is told that there is no other.
   */
  async #write(
    groupId: number,
    userId: number,
    { needsOwner }: Options,
    write: (key: Key, was: MemberRecord) => Promise<[Update | Delete, ...Write[]]>,
    stays: (was: MemberRecord) => boolean = () => false,
  ): Promise<MemberRecord> {
    const source: MemberSource = { kind: 'group', id: groupId };
    for (let n = 0; n < TRIES; n++) {
      const was = await this.#members.get(source, userId);
      if (was === undefined) throw new Missing('member');
      const [own, ...alongside] = await write(memberKey(source, userId), was);
      const writes: Write[] = [{ ...own, ...checkUnchangedMember(was), reason: 'member' }, ...alongside];
      if (needsOwner && was.accessLevel === OWNER && !stays(was)) {
        const other = await this.#otherOwner(source, userId);
        if (other === undefined) throw new LastOwner();
        writes.push(this.#stillOwner(source, other));
      }
      try {
        await this.#table.transact(writes);
        return was;
      } catch (error) {
        if (!(error instanceof TransactionRefused)) throw error;
      }
    }
    throw new Stale('member');
  }

  /** One without an end, if there is. */
  async #otherOwner(source: MemberSource, userId: number | undefined): Promise<number | undefined> {
    let found: number | undefined;
    const rows = { partition: memberPartition(source), prefix: MEMBER, where: '#accessLevel = :owner' };
    for await (const item of this.#table.queryAll({ ...rows, values: { owner: OWNER } })) {
      const member = unexpired(fromItem(item));
      if (member === undefined || member.userId === userId || member.bot === true) continue;
      if (member.expiresAt === null) return member.userId;
      found ??= member.userId;
    }
    return found;
  }
}

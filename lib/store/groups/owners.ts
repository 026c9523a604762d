/** Changes of a group's memberships that keep at least one owner. */

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
  /** Whether another owner is required: of a top-level group, which inherits none. */
  readonly needsOwner: boolean;
}

interface RemovalOptions extends Options {
  readonly alongside?: readonly Write[];
}

interface ChangeOptions extends Options {
  readonly alongside?: AlongsideChange;
}

/** Attempts, if the memberships are changed concurrently. */
const ATTEMPTS = 5;
const OWNER = 50 satisfies AccessLevel;

export class GroupOwners {
  readonly #table: Table;
  readonly #members: Members;

  constructor(table: Table, members: Members) {
    this.#table = table;
    this.#members = members;
  }

  /** Removes a member.
   * @throws Missing when there is no such membership; LastOwner; Stale when concurrent writers keep changing it
   */
  async remove(groupId: number, userId: number, options: RemovalOptions): Promise<void> {
    const { alongside = [] } = options;
    await this.#write(groupId, userId, options, async (key) => [{ delete: key }, ...alongside]);
  }

  /** Changes a member's level and, if given, expiry. @throws as {@link remove} */
  async change(
    groupId: number,
    userId: number,
    change: { accessLevel: AccessLevel; expiresAt?: string | null },
    options: ChangeOptions,
  ): Promise<MemberRecord> {
    const written = membershipChange(change);
    const staysOwner = (previous: MemberRecord) => {
      const current = changedMember(previous, change);
      return current.accessLevel === OWNER && current.expiresAt === null;
    };
    const previous = await this.#write(
      groupId,
      userId,
      options,
      async (key, before) => [
        { update: key, ...written },
        ...((await options.alongside?.(before, changedMember(before, change))) ?? []),
      ],
      staysOwner,
    );
    return changedMember(previous, change);
  }

  /**
   * For a transaction that makes a group top-level: checks that an existing owner stays one, or else makes `heir` an
   * owner. Refused as `owner` when that owner is removed concurrently.
   */
  async ensureOwner(groupId: number, heir: number, now: Date): Promise<Write> {
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
    // Overwrites any membership that `heir` has.
    return { put, reason: 'owner' };
  }

  /** Whether a user is the only owner of a top-level group; subgroups inherit owners. */
  async isSole({ id, parentId }: Pick<GroupRecord, 'id' | 'parentId'>, userId: number): Promise<boolean> {
    return parentId === null && (await this.#otherOwner({ kind: 'group', id }, userId)) === undefined;
  }

  /**
   * The writes that remove an owner of a top-level group in the caller's transaction, provided that another owner stays;
   * refused as `member` or `owner`. @throws LastOwner
   */
  async ownerRemoval(groupId: number, userId: number): Promise<Write[]> {
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
   * Writes on condition that the membership is unchanged and that another owner stays one: of two owners who remove each
   * other concurrently, one gets LastOwner.
   */
  async #write(
    groupId: number,
    userId: number,
    { needsOwner }: Options,
    write: (key: Key, previous: MemberRecord) => Promise<[Update | Delete, ...Write[]]>,
    staysOwner: (previous: MemberRecord) => boolean = () => false,
  ): Promise<MemberRecord> {
    const source: MemberSource = { kind: 'group', id: groupId };
    for (let n = 0; n < ATTEMPTS; n++) {
      const previous = await this.#members.get(source, userId);
      if (previous === undefined) throw new Missing('member');
      const [memberChange, ...alongside] = await write(memberKey(source, userId), previous);
      const writes: Write[] = [
        { ...memberChange, ...checkUnchangedMember(previous), reason: 'member' },
        ...alongside,
      ];
      if (needsOwner && previous.accessLevel === OWNER && !staysOwner(previous)) {
        const other = await this.#otherOwner(source, userId);
        if (other === undefined) throw new LastOwner();
        writes.push(this.#stillOwner(source, other));
      }
      try {
        await this.#table.transact(writes);
        return previous;
      } catch (error) {
        if (!(error instanceof TransactionRefused)) throw error;
      }
    }
    throw new Stale('member');
  }

  /** Returns another owner, preferably one whose membership does not expire. */
  async #otherOwner(source: MemberSource, userId: number | undefined): Promise<number | undefined> {
    let expiring: number | undefined;
    const rows = { partition: memberPartition(source), prefix: MEMBER, where: '#accessLevel = :owner' };
    for await (const item of this.#table.queryAll({ ...rows, values: { owner: OWNER } })) {
      const member = unexpired(fromItem(item));
      if (member === undefined || member.userId === userId || member.bot === true) continue;
      if (member.expiresAt === null) return member.userId;
      expiring ??= member.userId;
    }
    return expiring;
  }
}

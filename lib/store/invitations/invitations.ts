/**
 * Invitations: memberships that are pending until the owner of an email address accepts. An invitation is a row of the
 * project or group, a row to find it by the address, and a row to find it by the mailed link; the three are created and
 * deleted together.
 */

import { type InvitationRecord, MAX_INVITATIONS } from '../../records/invitations.ts';
import type { AccessLevel, MemberRecord, MemberSource } from '../../records/members.ts';
import type { UserRecord } from '../../records/users.ts';
import { AlreadyExists, ConditionFailed, LimitReached, Missing, TransactionRefused } from '../errors.ts';
import { checkSourceExists } from '../members/item.ts';
import type { Members } from '../members/members.ts';
import type { Outbox, OutboxMessage } from '../outbox/outbox.ts';
import {
  INVITE,
  invitationKey,
  inviteCountKey,
  invitedKey,
  invitedPartition,
  inviteKey,
} from '../row-keys/invitations.ts';
import { memberPartition } from '../row-keys/members.ts';
import { nameKey } from '../row-keys/names.ts';
import { userKey } from '../row-keys/users.ts';
import type { Counters } from '../table/counters.ts';
import { type Page, type PageRequest, pageOfRows } from '../table/paging.ts';
import { allRecords, recordOf } from '../table/record-of.ts';
import type { Table } from '../table/table.ts';
import { sameName } from '../table/unique-names.ts';
import { ABSENT, type Check, PRESENT, type Write } from '../table/write.ts';

/** The invitation that an address or a mailed link points to. */
interface Invited {
  readonly source: MemberSource;
  readonly email: string;
}

export class Invitations {
  readonly #table: Table;
  readonly #counters: Counters;
  readonly #outbox: Outbox;
  readonly #members: Members;

  constructor(table: Table, counters: Counters, outbox: Outbox, members: Members) {
    this.#table = table;
    this.#counters = counters;
    this.#outbox = outbox;
    this.#members = members;
  }

  nextId(): Promise<number> {
    return this.#counters.next('invitation');
  }

  /**
   * @param options.unconfirmedOf the user who has the address but has not confirmed it
   * @param options.linkEnds when the link expires, in seconds since 1970
   * @throws AlreadyExists; LimitReached; Missing `project`, `group`, or `nobody` when a user has the address by now
   */
  async add(
    record: InvitationRecord,
    options: {
      unconfirmedOf: UserRecord | undefined;
      linkEnds: number;
      messages: readonly OutboxMessage[];
    },
  ): Promise<void> {
    const { source, email, hash } = record;
    const led: Invited = { source, email };
    try {
      await this.#outbox.commit(
        [
          { put: { ...inviteKey(source, email), ...record }, if: ABSENT, reason: 'invitation' },
          { put: { ...invitedKey(source, email), ...led } },
          { put: { ...invitationKey(hash), ...led, ttl: options.linkEnds } },
          {
            update: inviteCountKey(source),
            add: { n: 1 },
            if: 'attribute_not_exists(#n) OR #n < :limit',
            values: { limit: MAX_INVITATIONS },
            reason: 'limit',
          },
          checkSourceExists(source),
          nobodys(email, options.unconfirmedOf),
        ],
        options.messages,
      );
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      if (error.has('invitation')) throw new AlreadyExists('invitation');
      if (error.has('limit')) throw new LimitReached('invitations', MAX_INVITATIONS);
      for (const what of [source.kind, 'nobody']) if (error.has(what)) throw new Missing(what);
      throw error;
    }
  }

  async get(source: MemberSource, email: string): Promise<InvitationRecord | undefined> {
    return recordOf<InvitationRecord>(await this.#table.get(inviteKey(source, email)));
  }

  /** By address, ascending. */
  async list(source: MemberSource, request: PageRequest): Promise<Page<InvitationRecord>> {
    const rows = { partition: memberPartition(source), prefix: INVITE };
    const page = await pageOfRows(this.#table, rows, request);
    return { ...page, items: page.items.map((item) => recordOf<InvitationRecord>(item)!) };
  }

  /** All invitations of a project or group: at most {@link MAX_INVITATIONS}. */
  async all(source: MemberSource): Promise<InvitationRecord[]> {
    return allRecords<InvitationRecord>(this.#table, { partition: memberPartition(source), prefix: INVITE });
  }

  /** All invitations for an address. */
  async *of(email: string): AsyncGenerator<InvitationRecord> {
    for await (const item of this.#table.queryAll({ partition: invitedPartition(email) })) {
      const found = await this.get((item as unknown as Invited).source, email);
      if (found !== undefined) yield found;
    }
  }

  /** Returns the invitation of a mailed link, by the hash of its token; undefined if the link has expired. */
  async byLink(hash: string, now: Date): Promise<InvitationRecord | undefined> {
    const item = await this.#table.get(invitationKey(hash));
    if (item === undefined || (item['ttl'] as number) * 1000 <= now.getTime()) return undefined;
    const { source, email } = item as unknown as Invited;
    return this.get(source, email);
  }

  /** Changes access level and expiry, each if given. @throws Missing */
  async change(
    source: MemberSource,
    email: string,
    change: { accessLevel?: AccessLevel | undefined; expiresAt?: string | null | undefined },
  ): Promise<InvitationRecord> {
    try {
      const { accessLevel, expiresAt } = change;
      const set = { accessLevel, expiresAt };
      return recordOf<InvitationRecord>(
        await this.#table.update({ update: inviteKey(source, email), set, if: PRESENT }),
      )!;
    } catch (error) {
      throw error instanceof ConditionFailed ? new Missing('invitation') : error;
    }
  }

  /** @throws Missing when the invitation was accepted or withdrawn */
  async remove(invitation: InvitationRecord, messages: readonly OutboxMessage[] = []): Promise<void> {
    try {
      await this.#outbox.commit(withoutInvitation(invitation), messages);
    } catch (error) {
      throw error instanceof TransactionRefused ? new Missing('invitation') : error;
    }
  }

  /**
   * Turns an invitation into a membership; works only once. @param alongside writes of the same transaction
   * @throws Missing, AlreadyExists as {@link Members.add}; Missing `invitation`
   */
  async accept(
    invitation: InvitationRecord,
    member: MemberRecord,
    alongside: readonly Write[] = [],
  ): Promise<void> {
    try {
      await this.#members.add(member, { alongside: [...withoutInvitation(invitation), ...alongside] });
    } catch (error) {
      throw error instanceof TransactionRefused ? new Missing('invitation') : error;
    }
  }

  /** Deletes up to `limit` invitations of a deleted project or group. @returns whether any are left */
  async removeOfResource(source: MemberSource, limit = 100): Promise<boolean> {
    const rows = { partition: memberPartition(source), prefix: INVITE };
    const page = await this.#table.query({ ...rows, limit });
    for (const item of page.items) {
      await this.remove(recordOf<InvitationRecord>(item)!).catch((error: unknown) => {
        if (!(error instanceof Missing)) throw error;
      });
    }
    if (page.next !== undefined) return true;
    await this.#table.delete({ delete: inviteCountKey(source) });
    return false;
  }
}

/** Deletes an invitation, on condition that it exists with the hash that was read. */
const withoutInvitation = ({ source, email, hash }: InvitationRecord): Write[] => [
  {
    delete: inviteKey(source, email),
    if: '#hash = :hash',
    values: { hash },
    reason: 'invitation',
  },
  { delete: invitedKey(source, email) },
  { delete: invitationKey(hash) },
  { update: inviteCountKey(source), add: { n: -1 } },
];

/**
 * Checks that no user has confirmed an address yet. A user who confirms it concurrently either finds the invitation, or
 * makes this check fail.
 */
function nobodys(email: string, claimedBy: UserRecord | undefined): Check {
  const reason = 'nobody';
  if (claimedBy === undefined) return { check: nameKey('email', email), if: ABSENT, reason };
  const isFirst = sameName(claimedBy.email, email);
  if (!isFirst)
    return { check: nameKey('email', email), if: '#confirmed = :no', values: { no: false }, reason };
  const values = { null: 'NULL' };
  return { check: userKey(claimedBy.id), if: 'attribute_type(#confirmedAt, :null)', values, reason };
}

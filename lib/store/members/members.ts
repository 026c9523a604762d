/** Memberships of projects and groups: stored once, where they were given; a user's are found through an index. */

import { isExpired } from '../../records/expiry.ts';
import type { AccessLevel, MemberRecord, MemberSource } from '../../records/members.ts';
import { AlreadyExists, Missing, Stale, TransactionRefused } from '../errors.ts';
import { accessRequestKey } from '../row-keys/access-requests.ts';
import { idOf } from '../row-keys/key.ts';
import { MEMBER, memberKey, memberPartition } from '../row-keys/members.ts';
import { userKey, userPartition } from '../row-keys/users.ts';
import { type IdPage, idPage } from '../table/id-page.ts';
import { MAX_TOTAL, type Page, type PageRequest } from '../table/paging.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, type Delete, PRESENT, type Write } from '../table/write.ts';
import {
  changedMember,
  checkSourceExists,
  checkUnchangedMember,
  fromItem,
  membershipChange,
  memberWrite,
  ROW,
  unexpired,
} from './item.ts';

/** A membership as the index shows it: for rights ask {@link Members.get}, an index may be late. */
export interface ListedMembership {
  readonly source: MemberSource;
  readonly accessLevel: AccessLevel;
}

/** A project or group whose members are others' too; through an invitation up to its level. */
export interface Giver {
  readonly source: MemberSource;
  readonly atMost?: AccessLevel;
}

/** Writes for the transaction that changes a membership. */
export type AlongsideChange = (was: MemberRecord, is: MemberRecord) => Promise<readonly Write[]>;

/** Rows of members read at once where not all are wanted. */
const AT_ONCE = 1000;
/** Tries while others change the same membership. */
const TRIES = 5;

export class Members {
  readonly #table: Table;
  constructor(table: Table) {
    this.#table = table;
  }

  /** Strongly consistent; expired memberships are gone. */
  async get(source: MemberSource, userId: number): Promise<MemberRecord | undefined> {
    return unexpired(fromItem(await this.#table.get(memberKey(source, userId))));
  }

  /** Of many users in one project or group, in their order. */
  async getMany(source: MemberSource, userIds: readonly number[]): Promise<(MemberRecord | undefined)[]> {
    const items = await this.#table.batchGet(userIds.map((id) => memberKey(source, id)));
    return items.map((item) => unexpired(fromItem(item)));
  }

  /** Of many projects and groups, in their order. */
  async ofUserIn(userId: number, sources: readonly MemberSource[]): Promise<(MemberRecord | undefined)[]> {
    const items = await this.#table.batchGet(sources.map((source) => memberKey(source, userId)));
    return items.map((item) => unexpired(fromItem(item)));
  }

  /** Direct members by user id, ascending. */
  list(source: MemberSource, query: PageRequest): Promise<Page<MemberRecord>> {
    return this.listAll([{ source }], query);
  }

  /** Members of any of these, each once and at their highest level, by user id, ascending. */
  async listAll(givers: readonly Giver[], query: PageRequest): Promise<Page<MemberRecord>> {
    const items: MemberRecord[] = [];
    const first = (query.page - 1) * query.perPage;
    let total = 0;
    const limit = query.count ? undefined : Math.min(AT_ONCE, first + query.perPage + 1);
    for await (const member of this.#merged(givers, limit)) {
      if (total >= first && items.length < query.perPage) items.push(member);
      total++;
      if (total > Math.max(query.count ? MAX_TOTAL : 0, first + query.perPage)) break;
    }
    return {
      items,
      total: query.count && total <= MAX_TOTAL ? total : undefined,
      more: first + items.length < total,
    };
  }

  /** @param limit rows read at once; as many as there are in 1 MB when it is not given */
  async *#merged(givers: readonly Giver[], limit?: number): AsyncGenerator<MemberRecord> {
    const heads = await Promise.all(
      givers.map(async (giver) => {
        const rows = this.#of(giver, limit);
        return { rows, next: (await rows.next()).value };
      }),
    );
    for (;;) {
      let best: MemberRecord | undefined;
      for (const { next } of heads) {
        if (next === undefined || (best !== undefined && next.userId > best.userId)) continue;
        if (best === undefined || next.userId < best.userId || next.accessLevel > best.accessLevel)
          best = next;
      }
      if (best === undefined) return;
      yield best;
      for (const head of heads) {
        if (head.next?.userId === best.userId) head.next = (await head.rows.next()).value;
      }
    }
  }

  async *#of({ source, atMost }: Giver, limit?: number): AsyncGenerator<MemberRecord, undefined> {
    const rows = { partition: memberPartition(source), prefix: MEMBER, ...(limit && { limit }) } as const;
    for await (const item of this.#table.queryAll(rows)) {
      const member = unexpired(fromItem(item));
      if (member !== undefined) yield capped(member, atMost);
    }
    return undefined;
  }

  /** Of these users, those who are members of any of these: each once and at their highest level, by user id. */
  async among(givers: readonly Giver[], userIds: readonly number[]): Promise<MemberRecord[]> {
    const found = await Promise.all(givers.map(({ source }) => this.getMany(source, userIds)));
    const best = new Map<number, MemberRecord>();
    for (const [i, records] of found.entries()) {
      for (const record of records) {
        const member = record && capped(record, givers[i]!.atMost);
        if (member === undefined || member.accessLevel <= (best.get(member.userId)?.accessLevel ?? 0))
          continue;
        best.set(member.userId, member);
      }
    }
    return [...best.values()].sort((a, b) => a.userId - b.userId);
  }

  /** What one user is by any of these: the highest. */
  async highest(givers: readonly Giver[], userId: number): Promise<MemberRecord | undefined> {
    const found = await this.ofUserIn(
      userId,
      givers.map(({ source }) => source),
    );
    const levels = found.flatMap((member, i) =>
      member === undefined ? [] : [capped(member, givers[i]!.atMost)],
    );
    return levels.reduce<MemberRecord | undefined>(
      (best, member) => (best === undefined || member.accessLevel > best.accessLevel ? member : best),
      undefined,
    );
  }

  /**
   * Whoever asked to be let in is in, and asks no more.
   * @param options.requested whether there has to be such a request
   * @throws AlreadyExists; Missing when the project, the group, the user or the request is not there (any more)
   */
  async add(
    member: MemberRecord,
    options: { alongside?: readonly Write[]; requested?: boolean } = {},
  ): Promise<void> {
    const { kind } = member.source;
    const request = { delete: accessRequestKey(member.source, member.userId), reason: 'request' };
    try {
      await this.#table.transact([
        {
          ...memberWrite(member),
          // An expired membership counts as gone.
          if: `${ABSENT} OR #expiresAt <= :today`,
          values: { today: new Date().toISOString().slice(0, 10) },
          reason: 'member',
        },
        checkSourceExists(member.source),
        { check: userKey(member.userId), if: PRESENT, reason: 'user' },
        options.requested === true ? { ...request, if: PRESENT } : request,
        ...(options.alongside ?? []),
      ]);
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      for (const what of [kind, 'user', 'request']) if (error.has(what)) throw new Missing(what);
      throw error.has('member') ? new AlreadyExists('member') : error;
    }
  }

  /**
   * Changes level and, when given, expiry.
   * @param options.was as it was read last; @param options.alongside writes of the same transaction, from what it was
   *   to what it is
   * @throws Missing, also when it has expired; Stale when others change it all the time
   */
  async change(
    source: MemberSource,
    userId: number,
    change: { accessLevel: AccessLevel; expiresAt?: string | null },
    options: { was?: MemberRecord; alongside?: AlongsideChange } = {},
  ): Promise<MemberRecord> {
    let { was } = options;
    for (let n = 0; n < TRIES; n++) {
      was ??= await this.get(source, userId);
      if (was === undefined) throw new Missing('member');
      const is = changedMember(was, change);
      try {
        await this.#table.transact([
          {
            update: memberKey(source, userId),
            ...membershipChange(change),
            ...checkUnchangedMember(was),
            reason: 'member',
          },
          ...((await options.alongside?.(was, is)) ?? []),
        ]);
        return is;
      } catch (error) {
        if (!(error instanceof TransactionRefused && error.has('member'))) throw error;
      }
      was = undefined;
    }
    throw new Stale('member');
  }

  /** @param alongside writes of the same transaction @throws Missing */
  async remove(source: MemberSource, userId: number, alongside: readonly Write[] = []): Promise<void> {
    const row = { delete: memberKey(source, userId), if: PRESENT, reason: 'member' };
    await this.#takeAway([row], alongside);
  }

  /**
   * Several of one user's in one transaction, as many as it takes.
   * @throws Missing when one of them is gone, or given anew, or what `alongside` asks of a `namespace` does not hold
   */
  async endTogether(members: readonly MemberRecord[], alongside: readonly Write[]): Promise<void> {
    const rows = members.map(({ source, userId, createdAt }) => ({
      delete: memberKey(source, userId),
      if: '#createdAt = :createdAt',
      values: { createdAt },
      reason: 'member',
    }));
    await this.#takeAway(rows, alongside);
  }

  /** Strongly consistent, as long as its row is there. */
  async getEvenExpired(source: MemberSource, userId: number): Promise<MemberRecord | undefined> {
    return fromItem(await this.#table.get(memberKey(source, userId)));
  }

  /** Takes away what has expired, while it is as it was read. @throws Missing */
  async expire(member: MemberRecord, alongside: readonly Write[]): Promise<void> {
    const row = {
      delete: memberKey(member.source, member.userId),
      ...checkUnchangedMember(member),
      reason: 'member',
    };
    await this.#takeAway([row], alongside);
  }

  async #takeAway(rows: readonly Delete[], alongside: readonly Write[]): Promise<void> {
    try {
      await this.#table.transact([...rows, ...alongside]);
    } catch (error) {
      const gone = error instanceof TransactionRefused && (error.has('member') || error.has('namespace'));
      throw gone ? new Missing('member') : error;
    }
  }

  /** Everything a user is a member of: groups, then projects, each by id. */
  async *ofUser(
    userId: number,
    kinds: readonly MemberSource['kind'][] = ['group', 'project'],
  ): AsyncGenerator<ListedMembership> {
    for (const kind of kinds) {
      const rows = {
        index: 'byUser',
        partition: userPartition(userId),
        prefix: `${ROW[kind]}#`,
      } as const;
      for await (const item of this.#table.queryAll(rows)) {
        const expiresAt = (item['expiresAt'] as string | null | undefined) ?? null;
        if (isExpired({ expiresAt })) continue;
        const source = { kind, id: idOf(item['what'] as string) };
        yield { source, accessLevel: item['accessLevel'] as AccessLevel };
      }
    }
  }

  /** Direct members by user id. */
  async *each(source: MemberSource): AsyncGenerator<MemberRecord> {
    yield* this.#of({ source });
  }

  /** Ids of direct members above `after`, ascending, expired ones among them. */
  async idsAfter(source: MemberSource, after: number, limit: number): Promise<IdPage> {
    const page = await this.#table.query({
      partition: memberPartition(source),
      from: memberKey(source, after + 1).sk,
      to: `${MEMBER}~`,
      only: ['sk'],
      limit,
    });
    return idPage(page);
  }

  /** Ids of people who hold a level or more: so many, of so many members looked at, by id. */
  async atLeast(source: MemberSource, level: AccessLevel, most: number, lookAt: number): Promise<number[]> {
    const found: number[] = [];
    let seen = 0;
    for await (const member of this.#of({ source })) {
      if (member.accessLevel >= level && member.bot !== true) found.push(member.userId);
      if (found.length >= most || ++seen >= lookAt) break;
    }
    return found;
  }

  /** Takes away the rows of what is gone, some at a time. @returns whether any are left. */
  async removeAll(source: MemberSource, limit = 500): Promise<boolean> {
    const page = await this.#table.query({
      partition: memberPartition(source),
      prefix: MEMBER,
      limit,
      only: ['pk', 'sk'],
    });
    await Promise.all(
      page.items.map((item) => this.#table.delete({ delete: item as { pk: string; sk: string } })),
    );
    return page.next !== undefined;
  }
}

const capped = (member: MemberRecord, atMost: AccessLevel = 50): MemberRecord =>
  member.accessLevel > atMost ? { ...member, accessLevel: atMost } : member;

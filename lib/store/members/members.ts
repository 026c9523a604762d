/** Memberships of projects and groups: stored with the project or group; a user's are found through an index. */

import type { AccessLevel, HeldMembership, MemberRecord, MemberSource } from '../../records/members.ts';
import { AlreadyExists, Missing, Stale, TransactionRefused } from '../errors.ts';
import { accessRequestKey } from '../row-keys/access-requests.ts';
import { idOf, padded } from '../row-keys/key.ts';
import { MEMBER, memberKey, memberPartition } from '../row-keys/members.ts';
import { userKey, userPartition } from '../row-keys/users.ts';
import { type IdPage, idPage } from '../table/id-page.ts';
import { fewOfUser, hasExpired } from '../table/id-sources.ts';
import { MAX_TOTAL, type Page, type PageRequest } from '../table/paging.ts';
import { behindRow } from '../table/sorted-sources.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, type Delete, type Item, PRESENT, type Write } from '../table/write.ts';
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

/** A membership as in the index, which may be stale: for access decisions use {@link Members.get}. */
export interface ListedMembership {
  readonly source: MemberSource;
  readonly accessLevel: AccessLevel;
}

/** A project or group whose members are inherited; those of an invited group have at most its share's level. */
export interface MembershipGrant {
  readonly source: MemberSource;
  readonly atMost?: AccessLevel;
}

/** Returns further writes for the transaction that changes a membership. */
export type AlongsideChange = (previous: MemberRecord, current: MemberRecord) => Promise<readonly Write[]>;

/** Rows of members read at once where not all are needed. */
const BATCH_SIZE = 1000;
/** Attempts, if the membership is changed concurrently. */
const ATTEMPTS = 5;

export class Members {
  readonly #table: Table;
  constructor(table: Table) {
    this.#table = table;
  }

  /** Strongly consistent; undefined for expired memberships. */
  async get(source: MemberSource, userId: number): Promise<MemberRecord | undefined> {
    return unexpired(fromItem(await this.#table.get(memberKey(source, userId))));
  }

  /** Memberships of many users in one project or group, in the order of the users. */
  async getMany(source: MemberSource, userIds: readonly number[]): Promise<(MemberRecord | undefined)[]> {
    const items = await this.#table.batchGet(userIds.map((id) => memberKey(source, id)));
    return items.map((item) => unexpired(fromItem(item)));
  }

  /** Memberships of one user in many projects and groups, in the order of these. Strongly consistent by default. */
  async ofUserIn(
    userId: number,
    sources: readonly MemberSource[],
    options: { consistent?: boolean } = {},
  ): Promise<(MemberRecord | undefined)[]> {
    const keys = sources.map((source) => memberKey(source, userId));
    const items = await this.#table.batchGet(keys, options);
    return items.map((item) => unexpired(fromItem(item)));
  }

  /** Like {@link Members.ofUserIn}, of which no more is read than decides what the user may do. */
  async heldBy(userId: number, sources: readonly MemberSource[]): Promise<(HeldMembership | undefined)[]> {
    const keys = sources.map((source) => memberKey(source, userId));
    const items = await this.#table.batchGet(keys, { only: ['accessLevel', 'expiresAt'] });
    return items.map((item) => unexpired(item as HeldMembership | undefined));
  }

  /** Direct members by user id, ascending. */
  list(source: MemberSource, query: PageRequest): Promise<Page<MemberRecord>> {
    return this.listAll([{ source }], query);
  }

  /**
   * Members of any of the sources, each once with the highest level, by user id, ascending.
   * @param query.after only users with a greater id
   */
  async listAll(
    givers: readonly MembershipGrant[],
    query: PageRequest & { readonly after?: number | undefined },
  ): Promise<Page<MemberRecord>> {
    const items: MemberRecord[] = [];
    const first = (query.page - 1) * query.perPage;
    let total = 0;
    const limit = query.count ? undefined : Math.min(BATCH_SIZE, first + query.perPage + 1);
    for await (const member of this.#merged(givers, limit, query.after)) {
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

  /** @param limit rows read at once; default: up to 1 MB */
  async *#merged(
    givers: readonly MembershipGrant[],
    limit?: number,
    after?: number,
  ): AsyncGenerator<MemberRecord> {
    const heads = await Promise.all(
      givers.map(async (giver) => {
        const rows = this.#of(giver, limit, after);
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

  async *#of(
    { source, atMost }: MembershipGrant,
    limit?: number,
    after = -1,
  ): AsyncGenerator<MemberRecord, undefined> {
    const range = { from: `${MEMBER}${padded(after + 1)}`, to: `${MEMBER}:` };
    const rows = { partition: memberPartition(source), ...range, ...(limit && { limit }) } as const;
    for await (const item of this.#table.queryAll(rows)) {
      const member = unexpired(fromItem(item));
      if (member !== undefined) yield capped(member, atMost);
    }
    return undefined;
  }

  /** Those of the users who are members of any of the sources: each once with the highest level, by user id. */
  async among(givers: readonly MembershipGrant[], userIds: readonly number[]): Promise<MemberRecord[]> {
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

  /** A user's membership of the highest level in any of the sources. */
  async highest(givers: readonly MembershipGrant[], userId: number): Promise<MemberRecord | undefined> {
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
   * Adds a member, and deletes the user's access request if there is one.
   * @param options.requested whether there must be an access request
   * @throws AlreadyExists; Missing when the project, the group, the user or the request does not exist
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
          // An expired membership counts as deleted.
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
   * Changes a member's level and, if given, expiry.
   * @param options.was the membership as last read, which saves a read
   * @param options.alongside further writes of the same transaction, from the previous and the current membership
   * @throws Missing, also when it has expired; Stale when concurrent writers keep changing it
   */
  async change(
    source: MemberSource,
    userId: number,
    change: { accessLevel: AccessLevel; expiresAt?: string | null },
    options: { previous?: MemberRecord; alongside?: AlongsideChange } = {},
  ): Promise<MemberRecord> {
    let { previous: was } = options;
    for (let n = 0; n < ATTEMPTS; n++) {
      was ??= await this.get(source, userId);
      if (was === undefined) throw new Missing('member');
      const current = changedMember(was, change);
      try {
        await this.#table.transact([
          {
            update: memberKey(source, userId),
            ...membershipChange(change),
            ...checkUnchangedMember(was),
            reason: 'member',
          },
          ...((await options.alongside?.(was, current)) ?? []),
        ]);
        return current;
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
    await this.#delete([row], alongside);
  }

  /**
   * Removes several memberships of one user in one transaction.
   * @throws Missing when one of them was removed or replaced, or when a `namespace` condition of `alongside` fails
   */
  async removeMany(members: readonly MemberRecord[], alongside: readonly Write[]): Promise<void> {
    const rows = members.map(({ source, userId, createdAt }) => ({
      delete: memberKey(source, userId),
      if: '#createdAt = :createdAt',
      values: { createdAt },
      reason: 'member',
    }));
    await this.#delete(rows, alongside);
  }

  /** Strongly consistent; returns expired memberships too, until they are deleted. */
  async getEvenExpired(source: MemberSource, userId: number): Promise<MemberRecord | undefined> {
    return fromItem(await this.#table.get(memberKey(source, userId)));
  }

  /** Deletes an expired membership if it is unchanged since it was read. @throws Missing */
  async expire(member: MemberRecord, alongside: readonly Write[]): Promise<void> {
    const row = {
      delete: memberKey(member.source, member.userId),
      ...checkUnchangedMember(member),
      reason: 'member',
    };
    await this.#delete([row], alongside);
  }

  async #delete(rows: readonly Delete[], alongside: readonly Write[]): Promise<void> {
    try {
      await this.#table.transact([...rows, ...alongside]);
    } catch (error) {
      const missing = error instanceof TransactionRefused && (error.has('member') || error.has('namespace'));
      throw missing ? new Missing('member') : error;
    }
  }

  /** A user's memberships: groups, then projects, each by id. */
  async *ofUser(
    userId: number,
    kinds: readonly MemberSource['kind'][] = ['group', 'project'],
    after?: MemberSource,
  ): AsyncGenerator<ListedMembership> {
    for (const kind of after === undefined ? kinds : kinds.slice(kinds.indexOf(after.kind))) {
      const rows = {
        index: 'byUser',
        partition: userPartition(userId),
        prefix: `${ROW[kind]}#`,
      } as const;
      const begin = kind === after?.kind ? rows.prefix + padded(after.id) : undefined;
      for await (const item of this.#table.queryAll(behindRow(rows, 'asc', begin))) {
        if (hasExpired(item) || item['what'] === begin) continue;
        yield { source: { kind, id: idOf(item['what'] as string) }, accessLevel: levelOf(item) };
      }
    }
  }

  /** The levels of these memberships by id; undefined where there are many. One round trip. */
  async fewOfUser(
    userId: number,
    kind: MemberSource['kind'],
  ): Promise<ReadonlyMap<number, AccessLevel> | undefined> {
    const rows = await fewOfUser(this.#table, userId, ROW[kind], { show: ['accessLevel'] });
    return rows && new Map(rows.map((row) => [idOf(row['what'] as string), levelOf(row)]));
  }

  /** Where a user is a member, in the same way; undefined where that is in more than `few`. */
  async fewWithUser(
    userId: number,
    kind: MemberSource['kind'],
    few: number,
  ): Promise<ReadonlySet<number> | undefined> {
    const rows = await fewOfUser(this.#table, userId, ROW[kind], { few });
    return rows && new Set(rows.map(({ what }) => idOf(what as string)));
  }

  /** Direct members by user id. */
  async *each(source: MemberSource): AsyncGenerator<MemberRecord> {
    yield* this.#of({ source });
  }

  /** Ids of direct members above `after`, ascending, expired ones included. */
  async idsAfter(
    source: MemberSource,
    after: number,
    limit: number,
    options: { readonly consistent?: boolean } = {},
  ): Promise<IdPage> {
    const page = await this.#table.query({
      ...options,
      partition: memberPartition(source),
      from: memberKey(source, after + 1).sk,
      to: `${MEMBER}~`,
      only: ['sk'],
      limit,
    });
    return idPage(page);
  }

  /** Ids of users with at least this level, by id: up to `limit`, among the first `maxRead` members. */
  async atLeast(source: MemberSource, level: AccessLevel, limit: number, maxRead: number): Promise<number[]> {
    const found: number[] = [];
    let read = 0;
    for await (const member of this.#of({ source })) {
      if (member.accessLevel >= level && member.bot !== true) found.push(member.userId);
      if (found.length >= limit || ++read >= maxRead) break;
    }
    return found;
  }

  /** Deletes the members of a deleted project or group, `limit` at a time. @returns whether any remain. */
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

const levelOf = (row: Item) => row['accessLevel'] as AccessLevel;

/** Memberships: stored once, in the project's partition; a user's are found through an index. */
import { AlreadyExists, ConditionFailed, Missing, TransactionRefused } from './errors.ts';
import { idOf, MEMBER, memberKey, projectKey, userKey, userPartition, userRow } from './keys.ts';
import { MAX_TOTAL, type Page, type PageRequest } from './paging.ts';
import { projectLives } from './project-item.ts';
import type { AccessLevel, MemberRecord } from './records.ts';
import type { Table } from './table.ts';
import { ABSENT, type Item, PRESENT, type Put, type Write } from './write.ts';

/** A membership is over at the start of the day it names, UTC. */
export const isExpired = (member: { readonly expiresAt: string | null }, now = new Date()): boolean =>
  member.expiresAt !== null && member.expiresAt <= now.toISOString().slice(0, 10);

export class Members {
  readonly #table: Table;
  constructor(table: Table) {
    this.#table = table;
  }

  /** Strongly consistent; expired memberships are gone. */
  async get(projectId: number, userId: number): Promise<MemberRecord | undefined> {
    return live(fromItem(await this.#table.get(memberKey(projectId, userId))));
  }

  /** Of many users in one project, in their order. */
  async getMany(projectId: number, userIds: readonly number[]): Promise<(MemberRecord | undefined)[]> {
    const items = await this.#table.batchGet(userIds.map((id) => memberKey(projectId, id)));
    return items.map((item) => live(fromItem(item)));
  }

  /** Of many projects, in their order. */
  async ofUserIn(userId: number, projectIds: readonly number[]): Promise<(MemberRecord | undefined)[]> {
    const items = await this.#table.batchGet(projectIds.map((id) => memberKey(id, userId)));
    return items.map((item) => live(fromItem(item)));
  }

  /** Members of a project by user id, ascending. */
  async list(projectId: number, query: PageRequest): Promise<Page<MemberRecord>> {
    const all: MemberRecord[] = [];
    const rows = { partition: projectKey(projectId).pk, prefix: MEMBER } as const;
    for await (const item of this.#table.queryAll(rows)) {
      const member = live(fromItem(item));
      if (member !== undefined) all.push(member);
      if (all.length > MAX_TOTAL) break;
    }
    const first = (query.page - 1) * query.perPage;
    const items = all.slice(first, first + query.perPage);
    return {
      items,
      total: query.count && all.length <= MAX_TOTAL ? all.length : undefined,
      more: first + items.length < all.length,
    };
  }

  /** @throws AlreadyExists, Missing when the project or the user is not there (any more) */
  async add(member: MemberRecord, options: { alongside?: readonly Write[] } = {}): Promise<void> {
    try {
      await this.#table.transact([
        {
          ...memberWrite(member),
          // An expired membership counts as gone.
          if: `${ABSENT} OR #expiresAt <= :today`,
          values: { today: new Date().toISOString().slice(0, 10) },
          reason: 'member',
        },
        projectLives(member.projectId),
        { check: userKey(member.userId), if: PRESENT, reason: 'user' },
        ...(options.alongside ?? []),
      ]);
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      for (const what of ['project', 'user']) if (error.has(what)) throw new Missing(what);
      throw error.has('member') ? new AlreadyExists('member') : error;
    }
  }

  /** Changes level and, when given, expiry. @throws Missing, also when it has expired */
  async change(
    projectId: number,
    userId: number,
    change: { accessLevel: AccessLevel; expiresAt?: string | null },
  ): Promise<MemberRecord> {
    try {
      const item = await this.#table.update({
        update: memberKey(projectId, userId),
        set: { accessLevel: change.accessLevel, expiresAt: change.expiresAt },
        if: `${PRESENT} AND (attribute_type(#expiresAt, :null) OR #expiresAt > :today)`,
        values: { null: 'NULL', today: new Date().toISOString().slice(0, 10) },
      });
      return fromItem(item)!;
    } catch (error) {
      throw error instanceof ConditionFailed ? new Missing('member') : error;
    }
  }

  /** @throws Missing */
  async remove(projectId: number, userId: number): Promise<void> {
    try {
      await this.#table.delete({ delete: memberKey(projectId, userId), if: PRESENT });
    } catch (error) {
      throw error instanceof ConditionFailed ? new Missing('member') : error;
    }
  }

  /** Everything a user is a member of, by project id; for rights ask {@link get}: an index may be late. */
  async *ofUser(userId: number): AsyncGenerator<{ projectId: number; accessLevel: AccessLevel }> {
    const rows = {
      index: 'byUser',
      partition: userPartition(userId),
      prefix: 'MEMBER#',
    } as const;
    for await (const item of this.#table.queryAll(rows)) {
      const expiresAt = (item['expiresAt'] as string | null | undefined) ?? null;
      if (isExpired({ expiresAt })) continue;
      yield { projectId: idOf(item['what'] as string), accessLevel: item['accessLevel'] as AccessLevel };
    }
  }

  /** Takes away the rows of a project that is gone, some at a time. @returns whether any are left. */
  async removeOfProject(projectId: number, limit = 500): Promise<boolean> {
    const page = await this.#table.query({
      partition: projectKey(projectId).pk,
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

/** The row of a membership, for the transaction that makes it. */
export function memberWrite(member: MemberRecord): Put {
  return {
    put: {
      ...memberKey(member.projectId, member.userId),
      ...member,
      who: userPartition(member.userId),
      what: userRow('MEMBER', member.projectId),
    },
    if: ABSENT,
    reason: 'member',
  };
}

export const live = (member: MemberRecord | undefined): MemberRecord | undefined =>
  member === undefined || isExpired(member) ? undefined : member;

export function fromItem(item: Item | undefined): MemberRecord | undefined {
  if (item === undefined) return undefined;
  const { pk: _p, sk: _s, w: _w, who: _o, what: _a, ...rest } = item;
  return rest as unknown as MemberRecord;
}

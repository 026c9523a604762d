/**
 * SCIM identities: a user's account at the identity provider of a group. Each is a row under the provider's id for the
 * user, and two rows that point to it: one by user id, one by the name that the user signs in with at the provider.
 * All three are created, changed and deleted in the transactions of the accounts and memberships that they belong to.
 */

import type { UserRecord } from '../../records/users.ts';
import { Missing, Stale, TransactionRefused } from '../errors.ts';
import { groupKey } from '../row-keys/groups.ts';
import { idOf, type Key } from '../row-keys/key.ts';
import { SCIM_USER, scimCountKey, scimIdentityKey, scimNameKey, scimUserKey } from '../row-keys/scim.ts';
import { userPartition, userRow } from '../row-keys/users.ts';
import { chunkFor, cutPage, type Page, type PageRequest } from '../table/paging.ts';
import { mergeKeys, rowSource } from '../table/sorted-sources.ts';
import type { Table } from '../table/table.ts';
import { sameName } from '../table/unique-names.ts';
import { ABSENT, type Check, type Item, PRESENT, type Write } from '../table/write.ts';
import { identitiesOf } from '../users/item.ts';
import type { Users } from '../users/users.ts';

/** Times are ISO 8601. */
export interface ScimIdentity {
  readonly groupId: number;
  readonly userId: number;
  /** The provider's id for the user; case-sensitive. */
  readonly externUid: string;
  /** The name that the user signs in with at the provider. */
  readonly userName: string;
  /** The email address that the provider sent. */
  readonly email: string;
  readonly givenName: string | null;
  readonly familyName: string | null;
  /** As the provider sent it; earlier releases did not store it. */
  readonly displayName?: string | null;
  /** False when the provider deactivated the user, who can be reactivated with the same identity. */
  readonly active: boolean;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly version: number;
}

/** Rows to count per call: more than fit into the megabyte that one call reads. */
const ROWS_PER_COUNT = 100_000;

export class ScimIdentities {
  readonly #table: Table;
  readonly #users: Users;

  constructor(table: Table, users: Users) {
    this.#table = table;
    this.#users = users;
  }

  /** One read. */
  async get(groupId: number, externUid: string): Promise<ScimIdentity | undefined> {
    return fromItem(await this.#table.get(scimIdentityKey(groupId, externUid)));
  }

  /** Two reads. Case is ignored. */
  ofName(groupId: number, userName: string): Promise<ScimIdentity | undefined> {
    return this.#led(groupId, scimNameKey(groupId, userName));
  }

  /** Two reads. */
  ofUser(groupId: number, userId: number): Promise<ScimIdentity | undefined> {
    return this.#led(groupId, scimUserKey(groupId, userId));
  }

  async #led(groupId: number, pointer: Key): Promise<ScimIdentity | undefined> {
    const row = await this.#table.get(pointer);
    return row && this.get(groupId, row['externUid'] as string);
  }

  async count(groupId: number): Promise<number> {
    return ((await this.#table.get(scimCountKey(groupId)))?.['identities'] as number | undefined) ?? 0;
  }

  /**
   * Returns up to `count` identities, sorted by user id. The rows before them are only counted, a megabyte of short
   * rows per call, and not transferred.
   * @param from number of identities to skip
   */
  async list(groupId: number, from: number, count: number): Promise<ScimIdentity[]> {
    const rows = { partition: groupKey(groupId).pk, prefix: SCIM_USER } as const;
    let startKey: Item | undefined;
    for (let skip = from; skip > 0; ) {
      const ahead = Math.min(skip, ROWS_PER_COUNT);
      const page = await this.#table.countPage({ ...rows, ...(startKey && { startKey }) }, ahead);
      skip -= page.count;
      if (page.next === undefined) return [];
      startKey = page.next;
    }
    const uids: string[] = [];
    const wanted = { ...rows, limit: count, ...(startKey && { startKey }), only: ['externUid'] };
    for await (const { externUid } of this.#table.queryAll(wanted)) {
      uids.push(externUid as string);
      if (uids.length >= count) break;
    }
    const found = await this.#table.batchGet(uids.map((uid) => scimIdentityKey(groupId, uid)));
    return found.map(fromItem).filter((identity) => identity !== undefined);
  }

  /** The users with an identity that pass the filter, sorted by id. */
  accounts(
    groupId: number,
    request: PageRequest,
    where: (user: UserRecord) => boolean,
  ): Promise<Page<UserRecord>> {
    const rows = { partition: groupKey(groupId).pk, prefix: SCIM_USER };
    const after = request.rows?.after;
    const source = rowSource(this.#table, rows, 'asc', chunkFor(request, 1), after);
    const load = (ids: readonly number[]) => this.#users.getMany(ids);
    return cutPage(mergeKeys([source], 'asc', after), request, { load, where });
  }

  /** For a transaction; refused as `taken:externalId`, `taken:userName` or `taken:account`. */
  create(identity: ScimIdentity): Write[] {
    const { groupId, userId, externUid, userName } = identity;
    return [
      { put: itemOf(identity), if: ABSENT, reason: 'taken:externalId' },
      { put: { ...scimUserKey(groupId, userId), externUid }, if: ABSENT, reason: 'taken:account' },
      { put: { ...scimNameKey(groupId, userName), externUid }, if: ABSENT, reason: 'taken:userName' },
      { update: scimCountKey(groupId), add: { identities: 1 } },
    ];
  }

  /**
   * For a transaction; refused as `identity` when it changed since `was` was read, or as `taken:externalId` or
   * `taken:userName`.
   */
  change(previous: ScimIdentity, next: ScimIdentity): Write[] {
    const { groupId, userId, externUid } = next;
    const unchanged = { if: '#version = :was', values: { was: previous.version }, reason: 'identity' };
    const moved = previous.externUid !== externUid;
    const renamed = !sameName(previous.userName, next.userName);
    return [
      ...(moved
        ? [
            { delete: scimIdentityKey(groupId, previous.externUid), ...unchanged },
            { put: itemOf(next), if: ABSENT, reason: 'taken:externalId' },
            { put: { ...scimUserKey(groupId, userId), externUid } },
          ]
        : [{ put: itemOf(next), ...unchanged }]),
      ...(renamed
        ? [
            { delete: scimNameKey(groupId, previous.userName) },
            {
              put: { ...scimNameKey(groupId, next.userName), externUid },
              if: ABSENT,
              reason: 'taken:userName',
            },
          ]
        : moved
          ? [{ put: { ...scimNameKey(groupId, next.userName), externUid } }]
          : []),
    ];
  }

  /** For a transaction; refused as `identity` when it changed since it was read. */
  remove({ groupId, userId, externUid, userName, version }: ScimIdentity): Write[] {
    return [
      {
        delete: scimIdentityKey(groupId, externUid),
        if: '#version = :was',
        values: { was: version },
        reason: 'identity',
      },
      { delete: scimUserKey(groupId, userId) },
      { delete: scimNameKey(groupId, userName) },
      { update: scimCountKey(groupId), add: { identities: -1 } },
    ];
  }

  /**
   * For a transaction: checks that the group is still a top-level group with single sign-on enabled, and not deleted;
   * refused as `sso`.
   */
  isOn(groupId: number): Check {
    return {
      check: groupKey(groupId),
      if: `${PRESENT} AND attribute_type(#deletedAt, :null) AND attribute_type(#parentId, :null) AND #sso.#enabled = :yes`,
      values: { null: 'NULL', yes: true },
      reason: 'sso',
    };
  }

  /** Deletes the identity of a deleted account. */
  async forget({ pk, sk }: Key): Promise<void> {
    const identity = fromItem(await this.#table.get({ pk, sk }));
    if (identity === undefined) return;
    await this.#table.transact(this.remove(identity)).catch((error: unknown) => {
      // A concurrent deletion was faster.
      if (!(error instanceof TransactionRefused)) throw error;
    });
  }

  /**
   * Deletes up to `limit` identities of a deleted group, and unlinks their accounts from it.
   * @returns whether any are left
   */
  async removeOfGroup(id: number, limit = 25): Promise<boolean> {
    const rows = { partition: groupKey(id).pk, prefix: SCIM_USER, limit };
    const page = await this.#table.query(rows);
    for (const row of page.items) {
      await this.#unlink(idOf(row['sk'] as string), id);
      await this.forget(scimIdentityKey(id, row['externUid'] as string));
    }
    if (page.next !== undefined) return true;
    await this.#table.delete({ delete: scimCountKey(id) });
    return false;
  }

  /** Removes the group's identity from the account, which then can no longer sign in through the group. */
  async #unlink(userId: number, groupId: number): Promise<void> {
    for (;;) {
      const user = await this.#users.get(userId);
      const identities = user === undefined ? [] : identitiesOf(user);
      const remaining = identities.filter((identity) => identity.saml_provider_id !== groupId);
      if (user === undefined || remaining.length === identities.length) return;
      try {
        await this.#users.update(user, { profile: { ...user.profile, identities: remaining } });
        return;
      } catch (error) {
        if (error instanceof Missing) return;
        if (!(error instanceof Stale)) throw error;
      }
    }
  }
}

function itemOf(identity: ScimIdentity): Item & Key {
  const { groupId, userId, externUid } = identity;
  return {
    ...scimIdentityKey(groupId, externUid),
    ...identity,
    who: userPartition(userId),
    what: userRow('SCIM', groupId),
  };
}

function fromItem(item: Item | undefined): ScimIdentity | undefined {
  if (item === undefined) return undefined;
  const { pk: _p, sk: _s, w: _w, who: _o, what: _a, ...rest } = item;
  return rest as unknown as ScimIdentity;
}

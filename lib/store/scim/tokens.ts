/** Tokens that a group's identity provider authenticates with: one valid token per group, found by its digest. */

import { Stale, TransactionRefused } from '../errors.ts';
import { checkSourceExists } from '../members/item.ts';
import { scimTokenKey, scimTokenOfKey } from '../row-keys/scim.ts';
import { recordOf } from '../table/record-of.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, type Check, PRESENT, type Write } from '../table/write.ts';

export interface ScimToken {
  readonly groupId: number;
  /** Lower-case hex SHA-256 of the token's text; the text itself is not stored. */
  readonly hash: string;
  /** ISO 8601 */
  readonly createdAt: string;
  readonly createdById: number;
}

export class ScimTokens {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async ofGroup(groupId: number): Promise<ScimToken | undefined> {
    return recordOf<ScimToken>(await this.#table.get(scimTokenOfKey(groupId)));
  }

  /** Returns the id of the group that a token belongs to: one strongly consistent read. */
  async groupOf(hash: string): Promise<number | undefined> {
    return (await this.#table.get(scimTokenKey(hash)))?.['groupId'] as number | undefined;
  }

  /**
   * Issues a token and revokes the previous one.
   * @param previous the previous token, as it was read
   * @throws Stale when another token was issued meanwhile, or the group does not exist
   */
  async issue(
    token: ScimToken,
    previous: ScimToken | undefined,
    options: { readonly alongside: readonly Write[] },
  ): Promise<void> {
    await this.#swap(previous, [
      { put: { ...scimTokenOfKey(token.groupId), ...token }, ...unchanged(previous) },
      { put: { ...scimTokenKey(token.hash), groupId: token.groupId }, if: ABSENT, reason: 'token' },
      checkSourceExists({ kind: 'group', id: token.groupId }),
      ...options.alongside,
    ]);
  }

  /** Takes effect at once. @throws Stale as {@link issue} */
  async revoke(previous: ScimToken, options: { readonly alongside: readonly Write[] }): Promise<void> {
    await this.#swap(previous, [
      { delete: scimTokenOfKey(previous.groupId), ...unchanged(previous) },
      ...options.alongside,
    ]);
  }

  async #swap(previous: ScimToken | undefined, writes: readonly Write[]): Promise<void> {
    try {
      await this.#table.transact([
        ...writes,
        ...(previous === undefined ? [] : [{ delete: scimTokenKey(previous.hash) }]),
      ]);
    } catch (error) {
      throw error instanceof TransactionRefused ? new Stale('token') : error;
    }
  }

  /** For a transaction: checks that the presented token is still valid; refused as `token`. */
  isInForce(hash: string): Check {
    return { check: scimTokenKey(hash), if: PRESENT, reason: 'token' };
  }

  /** Deletes the token of a deleted group. */
  async removeOfGroup(id: number): Promise<void> {
    const token = await this.ofGroup(id);
    if (token === undefined) return;
    await this.#table.delete({ delete: scimTokenKey(token.hash) });
    await this.#table.delete({ delete: scimTokenOfKey(id) });
  }
}

const unchanged = (previous: ScimToken | undefined) =>
  previous === undefined
    ? { if: ABSENT, reason: 'token' }
    : { if: '#hash = :was', values: { was: previous.hash }, reason: 'token' };

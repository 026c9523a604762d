/**
 * Registration tokens of groups, for runners: a secret that owners can show repeatedly, in a row that no list reads.
 */
import { TransactionRefused } from '../errors.ts';
import { groupKey } from '../row-keys/groups.ts';
import { runnersTokenKey } from '../row-keys/runners.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, PRESENT } from '../table/write.ts';

export class RunnersTokens {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async ofGroup(groupId: number): Promise<string | undefined> {
    return (await this.#table.get(runnersTokenKey(groupId)))?.['token'] as string | undefined;
  }

  /**
   * Stores a token unless the group has one.
   * @returns the stored token, which is the first of two given concurrently; undefined when the group is gone
   */
  async giveGroup(groupId: number, token: string): Promise<string | undefined> {
    try {
      await this.#table.transact([
        {
          check: groupKey(groupId),
          if: `${PRESENT} AND attribute_type(#deletedAt, :null)`,
          values: { null: 'NULL' },
          reason: 'group',
        },
        { put: { ...runnersTokenKey(groupId), token }, if: ABSENT },
      ]);
      return token;
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      return this.ofGroup(groupId);
    }
  }
}

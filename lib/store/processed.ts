/** Marks of messages that were handled, for handlers whose work is not idempotent by itself. */
import { ConditionFailed } from './errors.ts';
import { processedKey } from './keys.ts';
import type { Table } from './table.ts';
import { ABSENT, type Put } from './write.ts';

/** Longer than SQS keeps a message (14 days at most). */
const KEPT_SECONDS = 15 * 24 * 3600;

export class Processed {
  readonly #table: Table;
  constructor(table: Table) {
    this.#table = table;
  }

  async has(consumer: string, messageId: string): Promise<boolean> {
    return (await this.#table.get(processedKey(consumer, messageId))) !== undefined;
  }

  /** Which of these were handled. */
  async those(consumer: string, messageIds: readonly string[]): Promise<Set<string>> {
    const rows = await this.#table.batchGet(messageIds.map((id) => processedKey(consumer, id)));
    return new Set(messageIds.filter((_, i) => rows[i] !== undefined));
  }

  /** For the transaction that does the work: refused as `processed` when it was done before. */
  mark(consumer: string, messageId: string, now = new Date()): Put {
    return {
      put: { ...processedKey(consumer, messageId), ttl: Math.floor(now.getTime() / 1000) + KEPT_SECONDS },
      if: ABSENT,
      reason: 'processed',
    };
  }

  /** @returns false when it was marked before: somebody else has done the work. */
  async markNow(consumer: string, messageId: string, now = new Date()): Promise<boolean> {
    try {
      await this.#table.put(this.mark(consumer, messageId, now));
      return true;
    } catch (error) {
      if (error instanceof ConditionFailed) return false;
      throw error;
    }
  }
}

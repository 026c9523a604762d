/** Marks handled messages, for handlers whose work is not idempotent by itself. */
import { ConditionFailed } from '../errors.ts';
import { processedKey } from '../row-keys/outbox.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, type Put } from '../table/write.ts';

/** Longer than the 14 days for which SQS keeps a message at most. */
const KEPT_SECONDS = 15 * 24 * 3600;

export class Processed {
  readonly #table: Table;
  constructor(table: Table) {
    this.#table = table;
  }

  async has(consumer: string, messageId: string): Promise<boolean> {
    return (await this.#table.get(processedKey(consumer, messageId))) !== undefined;
  }

  /** Returns those of the messages that were handled. */
  async filterHandled(consumer: string, messageIds: readonly string[]): Promise<Set<string>> {
    const rows = await this.#table.batchGet(messageIds.map((id) => processedKey(consumer, id)));
    return new Set(messageIds.filter((_, i) => rows[i] !== undefined));
  }

  /** The mark, for the transaction that does the work: refused as `processed` when it was already done. */
  mark(consumer: string, messageId: string, now = new Date()): Put {
    return {
      put: { ...processedKey(consumer, messageId), ttl: Math.floor(now.getTime() / 1000) + KEPT_SECONDS },
      if: ABSENT,
      reason: 'processed',
    };
  }

  /**
   * Takes a lease on a message, for work outside a transaction such as calling another server. It is exclusive for `ms`
   * milliseconds, and ends with {@link end} or {@link release}.
   */
  async begin(consumer: string, messageId: string, now: Date, ms: number): Promise<BeginResult> {
    const row = this.mark(consumer, messageId, now).put;
    const at = now.getTime();
    try {
      await this.#table.put({
        put: { ...row, until: at + ms },
        if: `${ABSENT} OR #until <= :at`,
        values: { at },
      });
      return 'begun';
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
      return error.item?.['until'] === undefined ? 'done' : 'under way';
    }
  }

  /** Marks the message as handled. */
  async end(consumer: string, messageId: string, now = new Date()): Promise<void> {
    try {
      await this.#table.put(this.endWrite(consumer, messageId, now));
    } catch (error) {
      // The lease had expired, and another worker has finished the work too.
      if (!(error instanceof ConditionFailed)) throw error;
    }
  }

  /** The same as a write, for a transaction: refused as `processed` when the message was already handled. */
  endWrite(consumer: string, messageId: string, now = new Date()): Put {
    return { ...this.mark(consumer, messageId, now), if: 'attribute_exists(#until)' };
  }

  /** Gives up the lease: the work was not done and another worker may begin. */
  async release(consumer: string, messageId: string): Promise<void> {
    await this.#table.delete({ delete: processedKey(consumer, messageId) });
  }
}

/** `under way`: another worker holds the lease. */
export type BeginResult = 'begun' | 'done' | 'under way';

/** Marks of messages that were handled, for handlers whose work is not idempotent by itself. */
import { ConditionFailed } from '../errors.ts';
import { processedKey } from '../row-keys/outbox.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, type Put } from '../table/write.ts';

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

  /**
   * For work that no transaction can hold, such as calling somebody else: whoever begins it has it for itself until `ms`
   * have passed, and ends it with {@link end} or {@link release}.
   */
  async begin(consumer: string, messageId: string, now: Date, ms: number): Promise<Begun> {
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

  /** It was done. */
  async end(consumer: string, messageId: string, now = new Date()): Promise<void> {
    try {
      await this.#table.put(this.ends(consumer, messageId, now));
    } catch (error) {
      // Whoever took this one for dead has done it too.
      if (!(error instanceof ConditionFailed)) throw error;
    }
  }

  /** The same for a transaction, which is refused as `processed` when it has ended. */
  ends(consumer: string, messageId: string, now = new Date()): Put {
    return { ...this.mark(consumer, messageId, now), if: 'attribute_exists(#until)' };
  }

  /** It was not done: whoever comes next may begin. */
  async release(consumer: string, messageId: string): Promise<void> {
    await this.#table.delete({ delete: processedKey(consumer, messageId) });
  }
}

/** `under way`: somebody else is at it. */
export type Begun = 'begun' | 'done' | 'under way';

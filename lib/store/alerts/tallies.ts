/**
 * How often alerts were sent again. Counting is the most frequent write of all about alerts, and has to count a message
 * once that comes twice. A transaction with the mark of the message would cost four write units at least; these are three
 * small writes.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { AlertRecord } from '../../records/alerts.ts';
import { ConditionFailed, TransactionRefused } from '../errors.ts';
import { alertKey, alertTallyKey } from '../row-keys/alerts.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, type Item, PRESENT, type Put } from '../table/write.ts';

export interface Counted {
  readonly projectId: number;
  readonly iid: number;
  readonly messageId: string;
  readonly at: Date;
  /** Of the message; refused when it was handled. */
  readonly mark: Put;
}

export class AlertTallies {
  readonly #table: Table;
  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Counts an alert that was sent again, once for its message. The tally is added to under an attribute that names the
   * message, until the message is marked with the same word: whoever comes in between, after this process died, finds the
   * attribute and does not add again. Who added and then finds the mark with another word takes it back.
   * @returns `before`: the message was counted, or handled otherwise; `gone`: there is no such alert any more
   */
  async count({ projectId, iid, messageId, at, mark }: Counted): Promise<'counted' | 'before' | 'gone'> {
    const key = alertTallyKey(projectId, iid);
    const adding = `of_${createHash('sha256').update(messageId).digest('hex').slice(0, 16)}`;
    const word = await this.#add(key, adding, at);
    if (word === 'gone') {
      const made = await this.#make(projectId, iid);
      return made ? this.count({ projectId, iid, messageId, at, mark }) : 'gone';
    }
    const marked = await this.#mark(mark, word);
    try {
      await this.#table.update({
        update: key,
        remove: [adding],
        ...(marked === word ? {} : { add: { more: -1 } }),
        if: `#${adding} = :word`,
        values: { word },
      });
    } catch (error) {
      // Another delivery of the message has done so.
      if (!(error instanceof ConditionFailed)) throw error;
    }
    return marked === word ? 'counted' : 'before';
  }

  /** @returns the word of whoever added for this message and has not finished; `gone` without a tally */
  async #add(update: ReturnType<typeof alertTallyKey>, adding: string, at: Date): Promise<string> {
    const word = randomBytes(6).toString('hex');
    try {
      await this.#table.update({
        update,
        set: { [adding]: word, lastAt: at.toISOString() },
        add: { more: 1 },
        if: `${PRESENT} AND attribute_not_exists(#${adding})`,
      });
      return word;
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
      return (error.item?.[adding] as string | undefined) ?? 'gone';
    }
  }

  /** @returns the word with which the message is marked; undefined: with none, by other work */
  async #mark(mark: Put, word: string): Promise<string | undefined> {
    try {
      await this.#table.put({ ...mark, put: { ...mark.put, word } });
      return word;
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
      return error.item?.['word'] as string | undefined;
    }
  }

  /** Of an alert of an earlier release, which has none. @returns whether there is such an alert */
  async #make(projectId: number, iid: number): Promise<boolean> {
    try {
      await this.#table.transact([
        { ...noTally({ projectId, iid }), if: ABSENT, reason: 'tally' },
        { check: alertKey(projectId, iid), if: PRESENT, reason: 'alert' },
      ]);
      return true;
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      return !error.has('alert');
    }
  }
}

/** The tally of a new alert. */
export const noTally = ({ projectId, iid }: Pick<AlertRecord, 'projectId' | 'iid'>): Put => ({
  put: { ...alertTallyKey(projectId, iid), more: 0 },
});

/** An alert with what its tally says; without one as it is. */
export function withTally(alert: AlertRecord, tally: Item | undefined): AlertRecord {
  const { more = 0, lastAt = '' } = (tally ?? {}) as { more?: number; lastAt?: string };
  const updatedAt = lastAt > alert.updatedAt ? lastAt : alert.updatedAt;
  return { ...alert, events: alert.events + more, updatedAt };
}

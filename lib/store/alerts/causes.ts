/**
 * Which alert a fingerprint led to last, whether that is open, and how often it was sent again: a row for each fingerprint.
 * What workers do for one fingerprint at once is decided by conditions on this row alone. So an alert is made, and counted,
 * by single writes: a transaction would double what they cost.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { AlertRecord } from '../../records/alerts.ts';
import { ConditionFailed } from '../errors.ts';
import type { Processed } from '../outbox/idempotency.ts';
import { alertCauseKey, alertKey } from '../row-keys/alerts.ts';
import { recordOf } from '../table/record-of.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, PRESENT, type Put, type Update } from '../table/write.ts';

/** The consumer under which messages about alerts are marked. */
export const ALERT_MESSAGES = 'alerts';

/** Beside these, while a message is counted, an attribute that names it. */
export interface AlertCause {
  /** The last alert. */
  readonly iid: number;
  /** The message that it was made for; absent: people opened it again, or an earlier release made it. */
  readonly by?: string;
  /** It is resolved; absent: it is open. */
  readonly closed?: true;
  /** How often it was sent again, and when last. */
  readonly more?: number;
  readonly lastAt?: string;
}

/** A message about an alert that is open. */
export interface Again {
  readonly projectId: number;
  readonly fingerprint: string;
  readonly iid: number;
  readonly messageId: string;
  readonly at: Date;
}

type CauseKey = ReturnType<typeof alertCauseKey>;

export class AlertCauses {
  readonly #table: Table;
  readonly #processed: Processed;
  constructor(table: Table, processed: Processed) {
    this.#table = table;
    this.#processed = processed;
  }

  async get(projectId: number, fingerprint: string): Promise<AlertCause | undefined> {
    return recordOf<AlertCause>(await this.#table.get(alertCauseKey(projectId, fingerprint)));
  }

  /**
   * Counts an alert that was sent again, once for its message. The row is added to under an attribute that names the
   * message, until the message is marked with the same word: whoever comes in between, after this process died, finds the
   * attribute and does not add again. Who added and then finds the mark with another word takes it back.
   * @returns `before`: the message was counted, or handled otherwise; `gone`: that alert is open no more
   */
  async count({ projectId, fingerprint, iid, messageId, at }: Again): Promise<'counted' | 'before' | 'gone'> {
    const key = alertCauseKey(projectId, fingerprint);
    const word = await this.#add(key, iid, messageId, at);
    if (word === undefined) return 'gone';
    return this.#finish(key, attributeOf(messageId), word, at);
  }

  /** @returns the word of whoever added for this message and has not finished */
  async #add(update: CauseKey, iid: number, messageId: string, at: Date): Promise<string | undefined> {
    const adding = attributeOf(messageId);
    const word = `${randomBytes(6).toString('hex')} ${messageId}`;
    try {
      await this.#table.update({
        update,
        set: { [adding]: word, lastAt: at.toISOString() },
        add: { more: 1 },
        if: `#iid = :iid AND attribute_not_exists(#closed) AND attribute_not_exists(#${adding})`,
        values: { iid },
      });
      return word;
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
      return error.item?.[adding] as string | undefined;
    }
  }

  async #finish(update: CauseKey, adding: string, word: string, at: Date): Promise<'counted' | 'before'> {
    const marked = await this.#mark(messageIn(word), word, at);
    try {
      await this.#table.update({
        update,
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

  /** @returns the word with which the message is marked; undefined: with none, by other work */
  async #mark(messageId: string, word: string | undefined, at: Date): Promise<string | undefined> {
    const mark = this.#processed.mark(ALERT_MESSAGES, messageId, at);
    try {
      await this.#table.put({ ...mark, put: { ...mark.put, ...(word === undefined ? {} : { word }) } });
      return word;
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
      return error.item?.['word'] as string | undefined;
    }
  }

  /**
   * What is to be done before the row of a resolved alert leads to another one: those who count are finished for, the alert
   * is told how often it was sent, and the message that it was made for is marked.
   */
  async release(projectId: number, fingerprint: string, read: AlertCause, at: Date): Promise<void> {
    const pending = Object.entries(read).filter(([name]) => name.startsWith(ADDING)) as [string, string][];
    const key = alertCauseKey(projectId, fingerprint);
    for (const [adding, word] of pending) await this.#finish(key, adding, word, at);
    const cause = pending.length === 0 ? read : await this.get(projectId, fingerprint);
    if (cause?.iid !== read.iid) return;
    const { iid, by, more = 0, lastAt } = cause;
    if (more > 0) await this.#tell(alertKey(projectId, iid), { more, lastAt });
    if (by !== undefined) await this.#mark(by, undefined, at);
  }

  async #tell(
    update: CauseKey,
    set: { readonly more: number; readonly lastAt: string | undefined },
  ): Promise<void> {
    try {
      await this.#table.update({ update, set: { ...set }, if: PRESENT });
    } catch (error) {
      // It is gone with its project.
      if (!(error instanceof ConditionFailed)) throw error;
    }
  }
}

const ADDING = 'of_';
const attributeOf = (messageId: string): string =>
  `${ADDING}${createHash('sha256').update(messageId).digest('hex').slice(0, 16)}`;
const messageIn = (word: string): string => word.slice(word.indexOf(' ') + 1);

/** Whether a message is being counted there, by a worker that may have died. */
export const isCounting = (cause: AlertCause, messageId: string): boolean =>
  Object.hasOwn(cause, attributeOf(messageId));

/**
 * That the alert is open from now on; refused as `open` where another one is by now.
 * @param before the cause as it was read, and released
 */
export const leading = (
  { projectId, fingerprint, iid }: Pick<AlertRecord, 'projectId' | 'fingerprint' | 'iid'>,
  before: AlertCause | undefined,
  more: Pick<AlertCause, 'by' | 'more' | 'lastAt'>,
): Put => ({
  put: { ...alertCauseKey(projectId, fingerprint), iid, more: 0, ...more },
  ...(before === undefined ? { if: ABSENT } : stillClosed(before)),
  reason: 'open',
});

/** That a resolved alert is open again, which its fingerprint still leads to. */
export const reopening = ({ projectId, fingerprint }: AlertRecord, before: AlertCause): Update => ({
  update: alertCauseKey(projectId, fingerprint),
  remove: ['closed'],
  ...stillClosed(before),
  reason: 'open',
});

const stillClosed = ({ iid }: AlertCause) => ({
  if: '#iid = :iid AND attribute_exists(#closed)',
  values: { iid },
});

/** That the alert is resolved. */
export const closing = ({ projectId, fingerprint }: AlertRecord): Update => ({
  update: alertCauseKey(projectId, fingerprint),
  set: { closed: true },
});

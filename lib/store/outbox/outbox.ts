/**
 * What a request promises and a worker fulfils. The row is written in the request's own transaction, sent
 * after the commit and then deleted; what a crash left behind, a sweep sends. A message may therefore
 * arrive twice: its id lets the handler know (`processed.ts`).
 */
import { decodeTime, encodeTime, ulid as freshUlid, monotonicFactory } from 'ulid';
import { requestId } from '../../telemetry/correlation.ts';
import { log } from '../../telemetry/log.ts';
import { OUTBOX_SHARDS, outboxKey, outboxPartition } from '../row-keys/outbox.ts';
import type { Table } from '../table/table.ts';
import type { Item, Put, Write } from '../table/write.ts';

export interface OutboxMessage {
  /** ULID; the same at every delivery. */
  readonly id: string;
  readonly queue: string;
  /** What is to be done: `project.delete`, `search.index`. */
  readonly type: string;
  /** Plain data; together with the rest below 200 KB. */
  readonly body: Readonly<Record<string, unknown>>;
  /** The request that led to it, for who looks for what became of it; the rules know nothing of it. */
  readonly requestId?: string | undefined;
}

/** The queues as this file needs them. */
export interface MessageSender {
  /** Resolves when every message is safely queued. */
  send(queue: string, messages: readonly { readonly id: string; readonly body: string }[]): Promise<void>;
}

/** The queue of everything that is done behind a request's back. */
export const MAINTENANCE = 'maintenance';
/** The queue of forks that are to be given their content. */
export const FORKS = 'forks';
/** The queue of what is done by calling servers that somebody else named. */
export const OUTBOUND = 'outbound';
/** The queue of packs that wait in the staging area: of large pushes, and of repositories brought from elsewhere. */
export const INGEST = 'ingest';
/** The queue of mail. */
export const MAIL = 'mail';

const ulid = monotonicFactory();

export function message(queue: string, type: string, body: Readonly<Record<string, unknown>>): OutboxMessage {
  return { id: ulid(), queue, type, body, requestId: requestId() };
}

/**
 * A message for later: its id is dated ahead, so the sweep finds it when its time has come. Write it with
 * {@link outboxWrite}; do not deliver it.
 */
export function messageAt(
  queue: string,
  type: string,
  body: Readonly<Record<string, unknown>>,
  at: Date,
): OutboxMessage {
  // Not of the monotonic series, which would give every later id this time.
  return { id: freshUlid(at.getTime()), queue, type, body, requestId: requestId() };
}

/** The row of a message, for the transaction that promises it. */
export function outboxWrite({ id, queue, type, body, requestId }: OutboxMessage): Put {
  return { put: { ...outboxKey(id), queue, type, body, ...(requestId === undefined ? {} : { requestId }) } };
}

/**
 * What travels in the queue; parse it with {@link parseMessage}. SQS takes the characters of XML alone: two more of
 * those that JSON leaves as they are have to be escaped, or whoever writes one would be in the way of all that waits.
 */
export const messageText = ({ id, type, body, requestId }: OutboxMessage): string =>
  JSON.stringify({ id, type, body, requestId }).replace(
    /[\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16)}`,
  );

/** @returns the message, or undefined when the text is not one of ours. Earlier releases told no `requestId`. */
export function parseMessage(text: string): Omit<OutboxMessage, 'queue'> | undefined {
  try {
    const { id, type, body, requestId } = JSON.parse(text) as Record<string, unknown>;
    if (typeof id !== 'string' || typeof type !== 'string' || typeof body !== 'object' || body === null)
      return undefined;
    const known = { id, type, body: body as Record<string, unknown> };
    return typeof requestId === 'string' ? { ...known, requestId } : known;
  } catch {
    return undefined;
  }
}

export interface SweepReport {
  readonly sent: number;
  /** True when the bound was reached: more is waiting. */
  readonly more: boolean;
}

export class Outbox {
  readonly #table: Table;
  readonly #sender: MessageSender | undefined;

  /** Without a sender, messages wait for the sweep of somebody who has one. */
  constructor(table: Table, sender?: MessageSender) {
    this.#table = table;
    this.#sender = sender;
  }

  /** The transaction with its promises, then their delivery. @throws what `transact` throws. */
  async commit(writes: readonly Write[], messages: readonly OutboxMessage[] = []): Promise<void> {
    await this.#table.transact([...writes, ...messages.map(outboxWrite)]);
    await this.deliver(messages);
  }

  /** Never throws: the promise is kept by the row, and the sweep sends what this could not. */
  async deliver(messages: readonly OutboxMessage[]): Promise<void> {
    if (this.#sender === undefined || messages.length === 0) return;
    try {
      await this.#send(messages);
    } catch (error) {
      // The sweep sends it; said here, because a missing right would otherwise only show as slowness.
      log('warn', 'outbox delivery failed', { count: messages.length, error: String(error) });
    }
  }

  /**
   * Sends rows written before `now - olderThan`, oldest first in each shard. What cannot be sent is in the way of its
   * shard's alone.
   * @param olderThan milliseconds; leaves time for the request itself to deliver
   * @throws what the queue throws, so that the schedule's alarm sees it
   */
  async sweep(now: Date, olderThan: number, limit = 1000): Promise<SweepReport> {
    // Behind every id of that millisecond.
    const until = `${encodeTime(Math.max(0, now.getTime() - olderThan), 10)}~`;
    let sent = 0;
    let more = false;
    let failed: { readonly error: unknown } | undefined;
    const perShard = Math.ceil(limit / OUTBOX_SHARDS);
    for (let shard = 0; shard < OUTBOX_SHARDS; shard++) {
      const page = await this.#table.query({
        partition: outboxPartition(shard),
        to: until,
        limit: perShard,
      });
      more ||= page.next !== undefined;
      const messages = page.items.map(fromRow);
      try {
        if (messages.length > 0) await this.#send(messages);
        sent += messages.length;
      } catch (error) {
        failed ??= { error };
      }
    }
    if (failed !== undefined) throw failed.error;
    return { sent, more };
  }

  async #send(messages: readonly OutboxMessage[]): Promise<void> {
    if (this.#sender === undefined) throw new Error('no queue to send to');
    for (const [queue, group] of Map.groupBy(messages, (m) => m.queue)) {
      await this.#sender.send(
        queue,
        group.map((m) => ({ id: m.id, body: messageText(m) })),
      );
      await Promise.all(group.map((m) => this.#table.delete({ delete: outboxKey(m.id) })));
    }
  }
}

function fromRow(item: Item): OutboxMessage {
  return {
    id: item['sk'] as string,
    queue: item['queue'] as string,
    type: item['type'] as string,
    body: item['body'] as Record<string, unknown>,
    requestId: item['requestId'] as string | undefined,
  };
}

/** When a message was written. */
export const writtenAt = (id: string): Date => new Date(decodeTime(id));

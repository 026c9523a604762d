/**
 * The outbox: messages from requests to workers. The row is written in the request's own transaction, sent to its queue
 * after the commit and then deleted; a sweep sends what a crash left. Delivery is at least once: handlers recognise
 * a repeated message by its id (`idempotency.ts`).
 */
import { decodeTime, encodeTime, ulid as freshUlid, monotonicFactory } from 'ulid';
import { hookCall, requestId } from '../../telemetry/correlation.ts';
import { log } from '../../telemetry/log.ts';
import { OUTBOX_SHARDS, outboxKey, outboxPartition, promiseKey } from '../row-keys/outbox.ts';
import type { Table } from '../table/table.ts';
import type { Item, Put, Write } from '../table/write.ts';

export interface OutboxMessage {
  /** ULID; the same at every delivery. */
  readonly id: string;
  readonly queue: string;
  /** The job: `project.delete`, `search.index`. */
  readonly type: string;
  /** JSON data; less than 200 KB including the other fields. */
  readonly body: Readonly<Record<string, unknown>>;
  /** The request that wrote it, for correlation in logs only. */
  readonly requestId?: string | undefined;
  /** The call of a hook to which the request goes back. */
  readonly hookCall?: string | undefined;
  /** What is kept in the order of its list (`in-order.ts`): a row has it, and the body names the list alone. */
  readonly promised?: Promised;
}

export interface Promised {
  readonly list: string;
  /** JSON data. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** A message whose row is all that is written for it. */
export type PlainMessage = OutboxMessage & { readonly promised?: never };

/** Port to the queues. */
export interface MessageSender {
  /** Resolves when every message is safely queued. */
  send(queue: string, messages: readonly { readonly id: string; readonly body: string }[]): Promise<void>;
}

/** The queue of background jobs. */
export const MAINTENANCE = 'maintenance';
/** The queue of forks whose content is to be copied. */
export const FORKS = 'forks';
/** The queue of jobs that call servers chosen by users. */
export const OUTBOUND = 'outbound';
/** The queue of packs in the staging area: of large pushes and of imported repositories. */
export const INGEST = 'ingest';
/** The queue of mail. */
export const MAIL = 'mail';

const ulid = monotonicFactory();

export function message(queue: string, type: string, body: Readonly<Record<string, unknown>>): PlainMessage {
  return { id: ulid(), queue, type, body, requestId: requestId(), hookCall: hookCall() };
}

/** A message about something that is to be kept after all that was promised in its list before. */
export const messageInOrder = (queue: string, type: string, promised: Promised): OutboxMessage => ({
  ...message(queue, type, { list: promised.list }),
  promised,
});

/**
 * Creates a scheduled message: its id has the due time, so that the sweep sends it then. Write it with
 * {@link outboxWrite}; do not deliver it.
 */
export function messageAt(
  queue: string,
  type: string,
  body: Readonly<Record<string, unknown>>,
  at: Date,
): PlainMessage {
  // Not from the monotonic factory, which would give all later ids this time.
  return { id: freshUlid(at.getTime()), queue, type, body, requestId: requestId(), hookCall: hookCall() };
}

/** The row of a message, for the transaction that enqueues it. */
export const outboxWrite = (message: PlainMessage): Put => rowOf(message);

/** The rows of messages, for the transaction that enqueues them. */
export const outboxWrites = (messages: readonly OutboxMessage[]): Put[] =>
  messages.flatMap((message) => [
    rowOf(message),
    ...(message.promised === undefined ? [] : [promiseOf(message, message.promised)]),
  ]);

/** How many items of a transaction messages take. */
export const itemsOf = (messages: readonly OutboxMessage[]): number => outboxWrites(messages).length;

const rowOf = ({ id, queue, type, body, requestId, hookCall }: OutboxMessage): Put => ({
  put: {
    ...outboxKey(id),
    queue,
    type,
    body,
    ...(requestId === undefined ? {} : { requestId }),
    ...callOf(hookCall),
  },
});

const promiseOf = ({ id, hookCall }: OutboxMessage, { list, body }: Promised): Put => ({
  put: { ...promiseKey(list, id), body, ...callOf(hookCall), ttl: promiseEnd(id) },
});

const callOf = (hookCall: string | undefined) => (hookCall === undefined ? {} : { hookCall });

/** Longer than SQS keeps its message. */
const PROMISED_SECONDS = 15 * 24 * 3600;
const promiseEnd = (id: string): number => Math.floor(decodeTime(id) / 1000) + PROMISED_SECONDS;

/**
 * Serialises a message for the queue; {@link parseMessage} reads it. SQS accepts only the characters of XML: U+FFFE and
 * U+FFFF, which JSON does not escape, are escaped here. Otherwise one such message would block all others.
 */
export const messageText = ({ id, type, body, requestId, hookCall }: OutboxMessage): string =>
  JSON.stringify({ id, type, body, requestId, hookCall }).replace(
    /[\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16)}`,
  );

/** @returns the message; undefined when the text is not a message. Those of earlier releases have no `requestId`. */
export function parseMessage(text: string): Omit<OutboxMessage, 'queue'> | undefined {
  try {
    const { id, type, body, requestId, hookCall } = JSON.parse(text) as Record<string, unknown>;
    if (typeof id !== 'string' || typeof type !== 'string' || typeof body !== 'object' || body === null)
      return undefined;
    return {
      id,
      type,
      body: body as Record<string, unknown>,
      ...(typeof requestId === 'string' ? { requestId } : {}),
      ...(typeof hookCall === 'string' ? { hookCall } : {}),
    };
  } catch {
    return undefined;
  }
}

export interface SweepReport {
  readonly sent: number;
  /** True when the limit was reached and more messages are due. */
  readonly more: boolean;
}

export class Outbox {
  readonly #table: Table;
  readonly #sender: MessageSender | undefined;

  /** Without a sender, messages wait for the sweep of a process that has one. */
  constructor(table: Table, sender?: MessageSender) {
    this.#table = table;
    this.#sender = sender;
  }

  /** Commits a transaction together with its messages, then delivers these. @throws what `transact` throws. */
  async commit(writes: readonly Write[], messages: readonly OutboxMessage[] = []): Promise<void> {
    await this.#table.transact([...writes, ...outboxWrites(messages)]);
    await this.deliver(messages);
  }

  /** Sends messages that have no rows, for senders who are called again when it fails. @throws StoreUnavailable */
  async send(messages: readonly OutboxMessage[]): Promise<void> {
    if (this.#sender === undefined) throw new Error('no queue to send to');
    for (const [queue, group] of Map.groupBy(messages, (m) => m.queue))
      await this.#sender.send(
        queue,
        group.map((m) => ({ id: m.id, body: messageText(m) })),
      );
  }

  /** Sends messages. Never throws: the rows remain, and the sweep sends what could not be sent. */
  async deliver(messages: readonly OutboxMessage[]): Promise<void> {
    if (this.#sender === undefined || messages.length === 0) return;
    try {
      await this.#send(messages);
    } catch (error) {
      // The sweep sends it later. Logged, because a missing permission would otherwise only show as slowness.
      log('warn', 'outbox delivery failed', { count: messages.length, error: String(error) });
    }
  }

  /**
   * Sends rows written before `now - olderThan`, oldest first in each shard. A message that cannot be sent blocks only
   * its own shard.
   * @param olderThan milliseconds; leaves the request time to deliver its messages itself
   * @throws what the queue throws, so that the alarm of the schedule is raised
   */
  async sweep(now: Date, olderThan: number, limit = 1000): Promise<SweepReport> {
    // Sorts after every id of that millisecond.
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
    hookCall: item['hookCall'] as string | undefined,
  };
}

/** When a message was written. */
export const writtenAt = (id: string): Date => new Date(decodeTime(id));

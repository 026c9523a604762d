import { randomUUID } from 'node:crypto';
import { SqsError } from './errors.ts';
import { Journal } from './journal.ts';
import type { Message, MessageAttributes } from './message.ts';
import { Queue } from './queue.ts';

/** A change in the journal. Visibility timeouts are not recorded: the receivers were in this process. */
export type Change =
  | { type: 'queue'; name: string; settings: QueueSettings }
  | { type: 'drop'; queue: string }
  | { type: 'purge'; queue: string }
  | { type: 'send'; queue: string; message: Message }
  | { type: 'receive'; queue: string; id: string; count: number; first: number }
  | { type: 'remove'; queue: string; id: string }
  /** To the dead-letter queue. One record, so that a crash never leaves the message in both queues or in none. */
  | { type: 'move'; queue: string; id: string; to: string };

export interface QueueSettings {
  /** As in SetQueueAttributes: all values are strings. */
  attributes: Record<string, string>;
  /** Milliseconds since the epoch. */
  createdAt: number;
  modifiedAt: number;
}

export interface OpenQueue extends QueueSettings {
  name: string;
  arn: string;
  queue: Queue;
}

export const DEFAULT_ATTRIBUTES: Readonly<Record<string, string>> = {
  DelaySeconds: '0',
  MaximumMessageSize: '1048576',
  MessageRetentionPeriod: '345600',
  ReceiveMessageWaitTimeSeconds: '0',
  VisibilityTimeout: '30',
};

/** All queues, and the journal that makes them durable. */
export class Broker {
  readonly #queues = new Map<string, OpenQueue>();
  readonly #arnPrefix: string;
  #journal: Journal<Change> | undefined;

  private constructor(arnPrefix: string) {
    this.#arnPrefix = arnPrefix;
  }

  /** @param dir of the journal; without it nothing survives the process */
  static async open(dir: string | undefined, arnPrefix: string): Promise<Broker> {
    const broker = new Broker(arnPrefix);
    if (dir !== undefined) {
      const state = new Map<string, { settings: QueueSettings; messages: Map<string, Message> }>();
      const journal = await Journal.open<Change>(
        dir,
        (change) => replay(state, change, arnPrefix),
        () => broker.#snapshot(),
      );
      for (const [name, { settings, messages }] of state) {
        const { queue } = broker.#openQueue(name, settings);
        for (const message of messages.values()) queue.add(message);
      }
      broker.#journal = journal;
    }
    return broker;
  }

  queues(): OpenQueue[] {
    return [...this.#queues.values()];
  }

  /** @throws SqsError QueueDoesNotExist */
  get(name: string): OpenQueue {
    const queue = this.#queues.get(name);
    if (queue === undefined) throw new SqsError('QueueDoesNotExist', 'The specified queue does not exist.');
    return queue;
  }

  find(name: string): OpenQueue | undefined {
    return this.#queues.get(name);
  }

  async configure(name: string, attributes: Record<string, string>): Promise<void> {
    const now = Date.now();
    const existing = this.#queues.get(name);
    const settings = { attributes, createdAt: existing?.createdAt ?? now, modifiedAt: now };
    if (existing === undefined) this.#openQueue(name, settings);
    else Object.assign(existing, settings);
    await this.#journal?.commit({ type: 'queue', name, settings });
  }

  async drop(name: string): Promise<void> {
    this.get(name).queue.close();
    this.#queues.delete(name);
    await this.#journal?.commit({ type: 'drop', queue: name });
  }

  async purge(name: string): Promise<void> {
    this.get(name).queue.clear();
    await this.#journal?.commit({ type: 'purge', queue: name });
  }

  /**
   * Resolves when the message is on disk. It may be received a moment earlier.
   * @param delay in milliseconds
   */
  async send(name: string, body: string, attributes: MessageAttributes, delay: number): Promise<Message> {
    const sentAt = Date.now();
    const message: Message = {
      id: randomUUID(),
      body,
      attributes,
      sentAt,
      receiveCount: 0,
      visibleAt: sentAt + delay,
    };
    // Recorded before it can be received: the journal must not have its delivery first.
    const committed = this.#journal?.commit({ type: 'send', queue: name, message: { ...message } });
    this.get(name).queue.add(message);
    await committed;
    return message;
  }

  remove({ name, queue }: OpenQueue, message: Message): void {
    queue.remove(message);
    this.#journal?.append({ type: 'remove', queue: name, id: message.id });
  }

  async close(): Promise<void> {
    for (const { queue } of this.#queues.values()) queue.close();
    const journal = this.#journal;
    this.#journal = undefined;
    await journal?.close();
  }

  #openQueue(name: string, settings: QueueSettings): OpenQueue {
    const queue = new Queue(
      {
        received: ({ id, receiveCount, firstReceivedAt }) =>
          this.#journal?.append({
            type: 'receive',
            queue: name,
            id,
            count: receiveCount,
            first: firstReceivedAt!,
          }),
        removed: ({ id }) => this.#journal?.append({ type: 'remove', queue: name, id }),
        exhausted: (message) => this.#redrive(open, message),
      },
      () => ({
        retention: Number(open.attributes['MessageRetentionPeriod']) * 1000,
        // If the dead-letter queue does not exist, messages stay where they are.
        maxReceiveCount: this.#deadLetters(open)?.maxReceiveCount ?? Number.POSITIVE_INFINITY,
      }),
    );
    const open: OpenQueue = { name, arn: `${this.#arnPrefix}:${name}`, queue, ...settings };
    this.#queues.set(name, open);
    return open;
  }

  #deadLetters({ attributes }: OpenQueue): { target: OpenQueue; maxReceiveCount: number } | undefined {
    const policy = attributes['RedrivePolicy'];
    if (!policy) return undefined;
    const { deadLetterTargetArn, maxReceiveCount } = JSON.parse(policy) as Record<string, unknown>;
    const target = this.#queues.get(String(deadLetterTargetArn).split(':').at(-1)!);
    return target && { target, maxReceiveCount: Number(maxReceiveCount) };
  }

  #redrive(source: OpenQueue, message: Message): void {
    const { target } = this.#deadLetters(source)!;
    this.#journal?.append({ type: 'move', queue: source.name, id: message.id, to: target.name });
    target.queue.add(moved(message, source.arn));
  }

  *#snapshot(): Iterable<Change> {
    for (const { name, attributes, createdAt, modifiedAt } of this.#queues.values()) {
      yield { type: 'queue', name, settings: { attributes, createdAt, modifiedAt } };
    }
    for (const { name, queue } of this.#queues.values()) {
      for (const { receipt, ...message } of queue.messages) {
        // A message in flight becomes visible at a restart.
        if (receipt !== undefined) message.visibleAt = 0;
        yield { type: 'send', queue: name, message };
      }
    }
  }
}

function moved({ receipt: _, ...message }: Message, source: string): Message {
  return { ...message, visibleAt: 0, deadLetterSource: source };
}

function replay(
  state: Map<string, { settings: QueueSettings; messages: Map<string, Message> }>,
  change: Change,
  arnPrefix: string,
): void {
  if (change.type === 'queue') {
    const messages = state.get(change.name)?.messages ?? new Map();
    state.set(change.name, { settings: change.settings, messages });
    return;
  }
  const messages = state.get(change.queue)?.messages;
  if (messages === undefined) return;
  switch (change.type) {
    case 'drop':
      state.delete(change.queue);
      return;
    case 'purge':
      messages.clear();
      return;
    case 'send':
      messages.set(change.message.id, change.message);
      return;
    case 'remove':
      messages.delete(change.id);
      return;
    case 'receive': {
      const message = messages.get(change.id);
      if (message === undefined) return;
      message.receiveCount = change.count;
      message.firstReceivedAt = change.first;
      return;
    }
    case 'move': {
      const message = messages.get(change.id);
      messages.delete(change.id);
      if (message === undefined) return;
      state.get(change.to)?.messages.set(change.id, moved(message, `${arnPrefix}:${change.queue}`));
    }
  }
}

import { randomUUID } from 'node:crypto';
import { DueHeap } from './due-heap.ts';
import type { Message } from './message.ts';

/** Called for each change that the journal records. */
export interface QueueEvents {
  received(message: Message): void;
  removed(message: Message): void;
  /** Received more often than the redrive policy allows: goes to the dead-letter queue. */
  exhausted(message: Message): void;
}

export interface QueueLimits {
  /** Milliseconds. */
  retention: number;
  /** The number of receives after which the next one moves the message to the dead-letter queue instead. */
  maxReceiveCount: number;
}

export interface ReceiveOptions {
  maxMessages: number;
  /** Visibility timeout, in milliseconds. */
  visibility: number;
  /** Milliseconds to wait for the first message. */
  wait: number;
  /** Newest first: a standard queue guarantees no order. */
  reversed?: boolean;
  /** Leaves delivered messages visible, so that they are delivered again. */
  duplicated?: boolean;
  signal?: AbortSignal | undefined;
}

interface Waiter {
  options: ReceiveOptions;
  deliver(messages: Message[]): void;
}

/**
 * The messages of one standard queue, in memory: visible, or visible later because they are delayed or in flight. Each
 * delivery of a message has a new receipt, and only the latest receipt can delete it.
 */
export class Queue {
  readonly #events: QueueEvents;
  readonly #limits: () => QueueLimits;
  readonly #messages = new Map<string, Message>();
  /** In the order in which they became visible. */
  readonly #visible = new Map<string, Message>();
  /** Ids of messages that become visible later. The entry of a deleted message stays until it is due. */
  readonly #invisible = new DueHeap<string>();
  readonly #waiters = new Set<Waiter>();
  #timer: NodeJS.Timeout | undefined;
  #timerDue = 0;

  constructor(events: QueueEvents, limits: () => QueueLimits) {
    this.#events = events;
    this.#limits = limits;
  }

  get messages(): Iterable<Message> {
    return this.#messages.values();
  }

  counts(): { visible: number; delayed: number; inFlight: number } {
    this.#showDue();
    const inFlight = [...this.#messages.values()].filter(
      ({ id, receipt }) => receipt !== undefined && !this.#visible.has(id),
    ).length;
    return {
      visible: this.#visible.size,
      delayed: this.#messages.size - this.#visible.size - inFlight,
      inFlight,
    };
  }

  add(message: Message): void {
    this.#messages.set(message.id, message);
    this.#schedule(message);
  }

  /** Resolves with no messages when the wait times out, the signal is aborted or the queue is closed. */
  receive(options: ReceiveOptions): Promise<Message[]> {
    const taken = this.#take(options);
    if (taken.length > 0 || options.wait <= 0 || options.signal?.aborted) return Promise.resolve(taken);
    return new Promise((resolve) => {
      const waiter: Waiter = {
        options,
        deliver: (messages) => {
          clearTimeout(timeout);
          options.signal?.removeEventListener('abort', stopWaiting);
          this.#waiters.delete(waiter);
          if (this.#waiters.size === 0) this.#stopTimer();
          resolve(messages);
        },
      };
      const stopWaiting = () => waiter.deliver([]);
      const timeout = setTimeout(stopWaiting, options.wait);
      // A receiver that has gone must not take a message from the others.
      options.signal?.addEventListener('abort', stopWaiting, { once: true });
      this.#waiters.add(waiter);
      this.#startTimer();
    });
  }

  /** The message with an id, if this receipt is its latest. */
  findByReceipt(id: string, receipt: string): Message | undefined {
    const message = this.#messages.get(id);
    return message?.receipt === receipt ? message : undefined;
  }

  /** Whether it was received and its visibility timeout has not expired. */
  isInFlight(message: Message): boolean {
    this.#showDue();
    return message.receipt !== undefined && this.#messages.has(message.id) && !this.#visible.has(message.id);
  }

  changeVisibility(message: Message, visibleAt: number): void {
    message.visibleAt = visibleAt;
    this.#visible.delete(message.id);
    this.#schedule(message);
  }

  remove(message: Message): void {
    this.#messages.delete(message.id);
    this.#visible.delete(message.id);
  }

  clear(): void {
    this.#messages.clear();
    this.#visible.clear();
  }

  close(): void {
    for (const waiter of [...this.#waiters]) waiter.deliver([]);
  }

  #schedule(message: Message): void {
    if (message.visibleAt > Date.now()) {
      this.#invisible.add(message.visibleAt, message.id);
      this.#startTimer();
    } else {
      this.#visible.set(message.id, message);
      this.#serveWaiters();
    }
  }

  #take({ maxMessages, visibility, reversed, duplicated }: ReceiveOptions): Message[] {
    this.#showDue();
    const now = Date.now();
    const { retention, maxReceiveCount } = this.#limits();
    const taken: Message[] = [];
    const candidates = reversed ? [...this.#visible.values()].reverse() : this.#visible.values();
    for (const message of candidates) {
      if (taken.length >= maxMessages) break;
      if (message.sentAt + retention <= now) {
        this.remove(message);
        this.#events.removed(message);
      } else if (message.receiveCount >= maxReceiveCount) {
        this.remove(message);
        this.#events.exhausted(message);
      } else taken.push(message);
    }
    return taken.map((message) => {
      message.receiveCount++;
      message.firstReceivedAt ??= now;
      message.receipt = randomUUID();
      this.#events.received(message);
      // A copy, which keeps this delivery's receipt and count.
      const delivery = { ...message };
      if (duplicated || visibility <= 0) return delivery;
      this.#visible.delete(message.id);
      message.visibleAt = now + visibility;
      this.#invisible.add(message.visibleAt, message.id);
      return delivery;
    });
  }

  /** Makes the messages that are due visible. */
  #showDue(): void {
    const now = Date.now();
    for (let next = this.#invisible.takeDue(now); next; next = this.#invisible.takeDue(now)) {
      const message = this.#messages.get(next.item);
      if (message?.visibleAt === next.due) this.#visible.set(message.id, message);
    }
  }

  #serveWaiters(): void {
    for (const waiter of [...this.#waiters]) {
      if (this.#visible.size === 0) return;
      const taken = this.#take(waiter.options);
      if (taken.length > 0) waiter.deliver(taken);
    }
  }

  /** Wakes up when the next message is due; needed only while receivers wait. */
  #startTimer(): void {
    const due = this.#invisible.nextDue;
    if (due === undefined || this.#waiters.size === 0) return;
    if (this.#timer !== undefined && this.#timerDue <= due) return;
    this.#stopTimer();
    this.#timerDue = due;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        this.#showDue();
        this.#serveWaiters();
        this.#startTimer();
      },
      Math.max(0, due - Date.now()),
    );
  }

  #stopTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

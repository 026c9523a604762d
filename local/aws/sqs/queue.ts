import { randomUUID } from 'node:crypto';
import { DueHeap } from './due-heap.ts';
import type { Message } from './message.ts';

/** What a queue needs to know of its surroundings; each call is one change to be recorded. */
export interface QueueEvents {
  received(message: Message): void;
  removed(message: Message): void;
  /** Received more often than the redrive policy allows. */
  exhausted(message: Message): void;
}

export interface QueueLimits {
  /** Milliseconds. */
  retention: number;
  /** Receives after which the next one hands the message to the dead-letter queue instead. */
  maxReceiveCount: number;
}

export interface ReceiveOptions {
  most: number;
  /** Milliseconds. */
  visibility: number;
  /** Milliseconds to wait for a first message. */
  wait: number;
  /** Newest first, which a standard queue may do. */
  reversed?: boolean;
  /** Leaves what is delivered visible, so that it is delivered again. */
  duplicated?: boolean;
  signal?: AbortSignal | undefined;
}

interface Waiter {
  options: ReceiveOptions;
  deliver(messages: Message[]): void;
}

/**
 * The messages of one standard queue, in memory: ready, or due later because they are delayed or in flight.
 * A message is handed out under a new receipt each time, and removed by its latest receipt only.
 */
export class Queue {
  readonly #events: QueueEvents;
  readonly #limits: () => QueueLimits;
  readonly #messages = new Map<string, Message>();
  /** In the order in which they became visible. */
  readonly #ready = new Map<string, Message>();
  /** Ids. A message that was deleted or moved on leaves its entry behind until that is due. */
  readonly #later = new DueHeap<string>();
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
    this.#ripen();
    const inFlight = [...this.#messages.values()].filter(
      ({ id, receipt }) => receipt !== undefined && !this.#ready.has(id),
    ).length;
    return {
      visible: this.#ready.size,
      delayed: this.#messages.size - this.#ready.size - inFlight,
      inFlight,
    };
  }

  add(message: Message): void {
    this.#messages.set(message.id, message);
    this.#schedule(message);
  }

  /** Resolves with nothing when the time is over, the signal is aborted or the queue is closed. */
  receive(options: ReceiveOptions): Promise<Message[]> {
    const taken = this.#take(options);
    if (taken.length > 0 || options.wait <= 0 || options.signal?.aborted) return Promise.resolve(taken);
    return new Promise((resolve) => {
      const waiter: Waiter = {
        options,
        deliver: (messages) => {
          clearTimeout(timeout);
          options.signal?.removeEventListener('abort', giveUp);
          this.#waiters.delete(waiter);
          if (this.#waiters.size === 0) this.#stopTimer();
          resolve(messages);
        },
      };
      const giveUp = () => waiter.deliver([]);
      const timeout = setTimeout(giveUp, options.wait);
      // Nobody else takes the message when the receiver has gone away.
      options.signal?.addEventListener('abort', giveUp, { once: true });
      this.#waiters.add(waiter);
      this.#startTimer();
    });
  }

  /** @returns the message if this receipt is its latest */
  holder(id: string, receipt: string): Message | undefined {
    const message = this.#messages.get(id);
    return message?.receipt === receipt ? message : undefined;
  }

  /** Whether it was received and its visibility timeout has not run out. */
  isInFlight(message: Message): boolean {
    this.#ripen();
    return message.receipt !== undefined && this.#messages.has(message.id) && !this.#ready.has(message.id);
  }

  changeVisibility(message: Message, visibleAt: number): void {
    message.visibleAt = visibleAt;
    this.#ready.delete(message.id);
    this.#schedule(message);
  }

  remove(message: Message): void {
    this.#messages.delete(message.id);
    this.#ready.delete(message.id);
  }

  clear(): void {
    this.#messages.clear();
    this.#ready.clear();
  }

  close(): void {
    for (const waiter of [...this.#waiters]) waiter.deliver([]);
  }

  #schedule(message: Message): void {
    if (message.visibleAt > Date.now()) {
      this.#later.add(message.visibleAt, message.id);
      this.#startTimer();
    } else {
      this.#ready.set(message.id, message);
      this.#serve();
    }
  }

  #take({ most, visibility, reversed, duplicated }: ReceiveOptions): Message[] {
    this.#ripen();
    const now = Date.now();
    const { retention, maxReceiveCount } = this.#limits();
    const taken: Message[] = [];
    const candidates = reversed ? [...this.#ready.values()].reverse() : this.#ready.values();
    for (const message of candidates) {
      if (taken.length >= most) break;
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
      // The caller's copy keeps this delivery's receipt and count.
      const delivery = { ...message };
      if (duplicated || visibility <= 0) return delivery;
      this.#ready.delete(message.id);
      message.visibleAt = now + visibility;
      this.#later.add(message.visibleAt, message.id);
      return delivery;
    });
  }

  /** What is due becomes ready. */
  #ripen(): void {
    const now = Date.now();
    for (let next = this.#later.takeDue(now); next; next = this.#later.takeDue(now)) {
      const message = this.#messages.get(next.item);
      if (message?.visibleAt === next.due) this.#ready.set(message.id, message);
    }
  }

  #serve(): void {
    for (const waiter of [...this.#waiters]) {
      if (this.#ready.size === 0) return;
      const taken = this.#take(waiter.options);
      if (taken.length > 0) waiter.deliver(taken);
    }
  }

  /** Only somebody who waits needs to be told that a message is due. */
  #startTimer(): void {
    const due = this.#later.nextDue;
    if (due === undefined || this.#waiters.size === 0) return;
    if (this.#timer !== undefined && this.#timerDue <= due) return;
    this.#stopTimer();
    this.#timerDue = due;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        this.#ripen();
        this.#serve();
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

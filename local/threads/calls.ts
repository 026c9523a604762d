import type { Transferable } from 'node:worker_threads';
import { errorOf, type Failure, failureOf } from './failure.ts';

/** A side of a channel between two threads: a `Worker`, or the `parentPort` in it. */
export interface Port {
  postMessage(message: unknown, transfer?: readonly Transferable[]): void;
  on(event: 'message', listener: (message: Message) => void): unknown;
}

/** What goes to the other thread: `value` by structured clone, but for what is in `transfer`, which moves there. */
export interface Sent {
  readonly value: unknown;
  readonly transfer?: readonly Transferable[];
}

/** Answers a call. `signal` is aborted when the caller no longer waits, with its reason's message. */
export type Served = (value: never, signal: AbortSignal) => Promise<Sent>;

type Message =
  | { readonly kind: 'call'; readonly id: number; readonly name: string; readonly value: unknown }
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'failure'; readonly id: number; readonly error: Failure }
  | { readonly kind: 'abort'; readonly id: number };

/** Calls between two threads: each side calls by name what the other serves. */
export class ThreadCalls {
  readonly #port: Port;
  readonly #served: Readonly<Record<string, Served>>;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  readonly #running = new Map<number, AbortController>();
  #lastId = 0;
  #lastEnd = Date.now();
  #ended: Error | undefined;

  constructor(port: Port, served: Readonly<Record<string, Served>>) {
    this.#port = port;
    this.#served = served;
    port.on('message', (message) => this.#receive(message));
  }

  /** When the last call to the other thread was under way, as `Date.now()` tells it: now while there is one. */
  get last(): number {
    return this.#waiting.size > 0 ? Date.now() : this.#lastEnd;
  }

  /** @throws what the other side threw, or what {@link end} was told */
  async call<T>(name: string, { value, transfer }: Sent, signal?: AbortSignal): Promise<T> {
    if (this.#ended !== undefined) throw this.#ended;
    const id = ++this.#lastId;
    const answer = Promise.withResolvers<unknown>();
    this.#waiting.set(id, answer);
    const abort = () => this.#port.postMessage({ kind: 'abort', id } satisfies Message);
    signal?.addEventListener('abort', abort, { once: true });
    try {
      this.#port.postMessage({ kind: 'call', id, name, value } satisfies Message, transfer);
      if (signal?.aborted) abort();
      return (await answer.promise) as T;
    } finally {
      this.#waiting.delete(id);
      this.#lastEnd = Date.now();
      signal?.removeEventListener('abort', abort);
    }
  }

  /** The other thread has gone: all calls under way and to come fail. */
  end(error: Error): void {
    this.#ended = error;
    for (const { reject } of this.#waiting.values()) reject(error);
    for (const running of this.#running.values()) running.abort(error);
  }

  #receive(message: Message): void {
    const { id } = message;
    if (message.kind === 'call') void this.#answer(message);
    else if (message.kind === 'abort') this.#running.get(id)?.abort();
    else if (message.kind === 'answer') this.#waiting.get(id)?.resolve(message.value);
    else this.#waiting.get(id)?.reject(errorOf(message.error));
  }

  async #answer({ id, name, value }: Extract<Message, { kind: 'call' }>): Promise<void> {
    const running = new AbortController();
    this.#running.set(id, running);
    try {
      const served = this.#served[name];
      if (served === undefined) throw new Error(`nothing serves ${name}`);
      const answer = await served(value as never, running.signal);
      this.#port.postMessage({ kind: 'answer', id, value: answer.value } satisfies Message, answer.transfer);
    } catch (error) {
      this.#port.postMessage({ kind: 'failure', id, error: failureOf(error) } satisfies Message);
    } finally {
      this.#running.delete(id);
    }
  }
}

/** The same bytes as a whole buffer, which a message takes along: a part of one is copied. */
export const alone = (bytes: Uint8Array): Uint8Array<ArrayBuffer> =>
  bytes.byteLength === bytes.buffer.byteLength
    ? new Uint8Array(bytes.buffer as ArrayBuffer)
    : new Uint8Array(bytes);

/**
 * Work on users' texts that cannot be divided, in a thread that is ended when it takes too long, or would take more memory
 * than it may. V8 ends the whole process when a thread's heap overflows at a bad moment, so the limit of memory is only a
 * second line.
 */
import { Worker } from 'node:worker_threads';

interface Limits {
  /** Milliseconds for one task. */
  readonly maxTime: number;
  /** Megabytes of the thread. */
  readonly maxHeap: number;
  /** Milliseconds for a new thread to read its code, which takes a second where others need the processor too. */
  readonly maxStart?: number;
}

const MAX_START = 10_000;
/** Tasks that may wait for the thread; further ones are not done. */
const MAX_WAITING = 16;

interface Waiting<T, R> {
  readonly task: T;
  readonly done: (result: R | undefined) => void;
}

/** Does one task after the other. It is started when first needed, and keeps no process alive. */
export class TaskThread<T, R> {
  readonly #code: URL;
  readonly #limits: Required<Limits>;
  #worker: Worker | undefined;
  #isReady = false;
  #current: Waiting<T, R> | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #waiting: Waiting<T, R>[] = [];

  /** @param code what the thread runs: see `serve-tasks.ts` */
  constructor(code: URL, limits: Limits) {
    this.#code = code;
    this.#limits = { maxStart: MAX_START, ...limits };
  }

  /** Whether a further task would not be done. */
  get isFull(): boolean {
    return this.#waiting.length >= MAX_WAITING;
  }

  /** @returns undefined for a task that could not be done within the limits */
  run(task: T): Promise<R | undefined> {
    if (this.isFull) return Promise.resolve(undefined);
    return new Promise((done) => {
      this.#waiting.push({ task, done });
      this.#next();
    });
  }

  #next(): void {
    if (this.#current !== undefined) return;
    this.#current = this.#waiting.shift();
    if (this.#current === undefined) {
      this.#worker?.unref();
      return;
    }
    const worker = (this.#worker ??= this.#start());
    worker.ref();
    this.#limit(worker, this.#isReady ? this.#limits.maxTime : this.#limits.maxStart);
    worker.postMessage(this.#current.task);
  }

  #limit(worker: Worker, milliseconds: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#end(worker), milliseconds);
  }

  #start(): Worker {
    const worker = new Worker(this.#code, {
      resourceLimits: { maxOldGenerationSizeMb: this.#limits.maxHeap },
    });
    this.#isReady = false;
    worker.on('message', (result: R | undefined) => {
      // What a thread sent before it was ended still arrives, and is not about the task of the next one.
      if (this.#worker !== worker) return;
      if (result !== undefined) return this.#finish(result);
      this.#isReady = true;
      if (this.#current !== undefined) this.#limit(worker, this.#limits.maxTime);
    });
    // Out of memory; `exit` follows.
    worker.on('error', () => undefined);
    worker.on('exit', () => this.#end(worker));
    return worker;
  }

  #finish(result: R | undefined): void {
    clearTimeout(this.#timer);
    const { done } = this.#current ?? {};
    this.#current = undefined;
    done?.(result);
    this.#next();
  }

  /** The next task gets a new thread. */
  #end(worker: Worker): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    void worker.terminate();
    this.#finish(undefined);
  }
}

/**
 * Work on users' texts that cannot be divided, in a thread that is ended when it takes too long, or would take more memory
 * than it may. V8 ends the whole process when a thread's heap overflows at a bad moment, so the limit of memory is only a
 * second line.
 */
import { Worker } from 'node:worker_threads';
import { ThreadBusy } from './busy.ts';

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
  readonly failed: (error: ThreadBusy) => void;
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

  /**
   * Returns undefined for a task that could not be done within the limits.
   * @throws ThreadBusy where that says nothing of the task
   */
  run(task: T): Promise<R | undefined> {
    if (this.#waiting.length >= MAX_WAITING)
      return Promise.reject(new ThreadBusy('too many tasks wait for the thread'));
    return new Promise((done, failed) => {
      this.#waiting.push({ task, done, failed });
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
    this.#timer = setTimeout(() => {
      this.#end(worker, this.#isReady ? undefined : new ThreadBusy('the thread does not start'));
    }, milliseconds);
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
    worker.on('error', (error: NodeJS.ErrnoException) => {
      const isTask = error.code === OUT_OF_MEMORY;
      this.#end(worker, isTask ? undefined : new ThreadBusy('the thread failed', { cause: error }));
    });
    worker.on('exit', () => this.#end(worker, new ThreadBusy('the thread ended')));
    return worker;
  }

  /** @param busy why there is no result; undefined: the task is to blame, or there is one */
  #finish(result: R | undefined, busy?: ThreadBusy): void {
    clearTimeout(this.#timer);
    const { done, failed } = this.#current ?? {};
    this.#current = undefined;
    if (busy === undefined) done?.(result);
    else failed?.(busy);
    this.#next();
  }

  /** The next task gets a new thread. */
  #end(worker: Worker, busy?: ThreadBusy): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    void worker.terminate();
    this.#finish(undefined, busy);
  }
}

/** The code of the error with which a thread ends whose heap has grown too large. */
const OUT_OF_MEMORY = 'ERR_WORKER_OUT_OF_MEMORY';

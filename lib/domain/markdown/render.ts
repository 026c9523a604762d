/**
 * Renders Markdown without ever holding the event loop for long. Short texts are rendered at once. Others, and tables
 * with many cells, go to a thread: no parser of Markdown takes linear time for every text, and one that takes too long
 * there is ended and its text shown as it was written. So are texts of which more would be made than memory holds:
 * V8 ends the whole process when a thread's heap overflows at a bad moment, so its limit is only a second line.
 */
import { Worker } from 'node:worker_threads';
import type { HtmlOptions } from './html.ts';

/** Characters. Of forty kinds of slow texts of this length the slowest took 12 ms, and 29 ms with tables of 2,000 cells. */
const MAX_AT_ONCE = 4096;
/** Cells that tables may become, as rows are filled up to the width of their table. */
const MAX_CELLS_AT_ONCE = 2000;
/** Characters: a quarter of a description's limit. Lists of this length take a quarter of the thread's heap. */
export const MAX_RENDERED = 262_144;
/** A cell takes about a kilobyte while it is parsed. */
const MAX_CELLS = 50_000;
/** Milliseconds of the thread for one text; prose of the largest size takes a twentieth of it. */
const MAX_TIME = 4000;
/** Milliseconds for a new thread to read its code, which takes a second where others need the processor too. */
const MAX_START = 10_000;
/** Megabytes of the thread. */
const MAX_HEAP = 256;
/** Texts that may wait for the thread; further ones are not rendered. */
const MAX_WAITING = 16;

/** Returns sanitized HTML; for a text that cannot be rendered within the limits, the text itself in `<pre>`. */
export async function rendered(
  text: string,
  options: HtmlOptions,
  on: Pick<RenderThread, 'render'> = thread,
): Promise<string> {
  if (text.trim() === '') return '';
  const cells = text.length > MAX_RENDERED ? 0 : cellsOf(text);
  if (text.length > MAX_RENDERED || cells > MAX_CELLS) return asWritten(text);
  if (text.length <= MAX_AT_ONCE && cells <= MAX_CELLS_AT_ONCE) {
    const { toHtml } = await import('./html.ts');
    return toHtml(text, options);
  }
  return (await on.render(text, options)) ?? asWritten(text);
}

/** At least as many cells as the tables of the text have. A table ends at an empty line. */
function cellsOf(text: string): number {
  let cells = 0;
  for (const block of text.split(/\n[ \t]*\r?\n/)) {
    if (!block.includes('|')) continue;
    const lines = block.split('\n');
    cells += lines.length * lines.reduce((widest, line) => Math.max(widest, line.split('|').length - 1), 0);
  }
  return cells;
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

const escaped = (text: string): string => text.replace(/[&<>"]/g, (character) => ENTITIES[character]!);

/** The text in `<pre>`, where it is not rendered. */
export const asWritten = (text: string): string => `<pre>${escaped(text)}</pre>`;

/** The same of a text in pieces. */
export async function* piecesAsWritten(text: AsyncIterable<string>): AsyncGenerator<string> {
  yield '<pre>';
  for await (const piece of text) yield escaped(piece);
  yield '</pre>';
}

/** Beside the source, and beside the bundle that `cdk/bundle.ts` makes of it. */
const CODE = new URL(
  import.meta.url.endsWith('.ts') ? './render-thread.ts' : './render-thread.mjs',
  import.meta.url,
);

interface Task {
  readonly text: string;
  readonly options: HtmlOptions;
  readonly done: (html: string | undefined) => void;
}

/** Renders one text after the other. It is started when first needed, and keeps no process alive. */
export class RenderThread {
  readonly #maxTime: number;
  readonly #maxStart: number;
  #worker: Worker | undefined;
  #isReady = false;
  #current: Task | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #waiting: Task[] = [];

  /** @param maxTime milliseconds for one text @param maxStart milliseconds for a new thread */
  constructor(maxTime = MAX_TIME, maxStart = MAX_START) {
    this.#maxTime = maxTime;
    this.#maxStart = maxStart;
  }

  /** @returns undefined for a text that could not be rendered */
  render(text: string, options: HtmlOptions): Promise<string | undefined> {
    if (this.#waiting.length >= MAX_WAITING) return Promise.resolve(undefined);
    return new Promise((done) => {
      this.#waiting.push({ text, options, done });
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
    this.#limit(worker, this.#isReady ? this.#maxTime : this.#maxStart);
    const { text, options } = this.#current;
    worker.postMessage({ text, options });
  }

  #limit(worker: Worker, milliseconds: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#end(worker), milliseconds);
  }

  #start(): Worker {
    const worker = new Worker(CODE, { resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP } });
    this.#isReady = false;
    worker.on('message', (html: string | undefined) => {
      if (html !== undefined) return this.#finish(html);
      this.#isReady = true;
      if (this.#current !== undefined) this.#limit(worker, this.#maxTime);
    });
    // Out of memory; `exit` follows.
    worker.on('error', () => undefined);
    worker.on('exit', () => this.#end(worker));
    return worker;
  }

  #finish(html: string | undefined): void {
    clearTimeout(this.#timer);
    const task = this.#current;
    this.#current = undefined;
    task?.done(html);
    this.#next();
  }

  /** The next text gets a new thread. */
  #end(worker: Worker): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    void worker.terminate();
    this.#finish(undefined);
  }
}

const thread = new RenderThread();

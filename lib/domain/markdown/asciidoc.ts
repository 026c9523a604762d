/**
 * Renders AsciiDoc, which can ask for a million cells in ten characters: each text in a process of its own, with little
 * memory and time, no file but its own code, no network and nothing of this process's environment. What cannot be
 * rendered within these limits is shown as it was written.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { asWritten, MAX_RENDERED } from './render.ts';

/** What is asked of the process. */
export interface AsciidocTask {
  readonly text: string;
  readonly options: { readonly baseUrl: string; readonly projectUrl?: string };
}

/** Milliseconds of a process, its start included. */
const MAX_TIME = 8000;
/** Megabytes that a process may hold. */
const MAX_HEAP = 128;
/** Processes at once; texts beyond {@link MAX_WAITING} that wait for one are not rendered. */
const AT_ONCE = 2;
const MAX_WAITING = 16;

/** Beside the source, and beside the bundle that `cdk/bundle.ts` makes of it. */
const isSource = import.meta.url.endsWith('.ts');
const CODE = fileURLToPath(
  new URL(isSource ? './asciidoc-process.ts' : './asciidoc-process.mjs', import.meta.url),
);
/** The library is in the bundle. */
const READS = isSource ? fileURLToPath(new URL('../../..', import.meta.url)) : dirname(CODE);

export class AsciidocProcesses {
  readonly #maxTime: number;
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  /** @param maxTime milliseconds for one text */
  constructor(maxTime = MAX_TIME) {
    this.#maxTime = maxTime;
  }

  /** @returns undefined for a text that could not be rendered */
  async render(task: AsciidocTask): Promise<string | undefined> {
    if (this.#running >= AT_ONCE) {
      if (this.#waiting.length >= MAX_WAITING) return undefined;
      await new Promise<void>((go) => this.#waiting.push(go));
    } else this.#running++;
    try {
      return await answered(task, this.#maxTime);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }
}

function answered(task: AsciidocTask, maxTime: number): Promise<string | undefined> {
  return new Promise((done) => {
    let child: ChildProcess;
    try {
      child = fork(CODE, {
        execArgv: [`--max-old-space-size=${MAX_HEAP}`, '--permission', `--allow-fs-read=${READS}`],
        env: {},
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
        serialization: 'advanced',
      });
    } catch {
      // No process can be started.
      done(undefined);
      return;
    }
    const end = (html?: string) => {
      clearTimeout(timer);
      child.kill('SIGKILL');
      done(html);
    };
    const timer = setTimeout(end, maxTime, undefined);
    child.on('message', (html) => end(typeof html === 'string' ? html : undefined));
    child.on('error', () => end());
    child.on('exit', () => end());
    child.send(task);
  });
}

const processes = new AsciidocProcesses();

/** Returns sanitized HTML; for a text that cannot be rendered within the limits, the text itself in `<pre>`. */
export async function renderedAsciidoc(
  text: string,
  options: AsciidocTask['options'],
  on = processes,
): Promise<string> {
  if (text.trim() === '') return '';
  if (text.length > MAX_RENDERED) return asWritten(text);
  return (await on.render({ text, options })) ?? asWritten(text);
}

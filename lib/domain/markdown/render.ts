/**
 * Renders Markdown without ever holding the event loop for long. Short texts are rendered at once. Others, and tables
 * with many cells, go to a thread: no parser of Markdown takes linear time for every text, and one that takes too long
 * there is ended and its text shown as it was written. So are texts of which more would be made than memory holds:
 * V8 ends the whole process when a thread's heap overflows at a bad moment, so its limit is only a second line.
 */
import { ThreadBusy } from '../../threads/busy.ts';
import { TaskThread } from '../../threads/task-thread.ts';
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
/** Megabytes of the thread. */
const MAX_HEAP = 256;

/** Returns sanitized HTML; for a text that cannot be rendered within the limits, the text itself in `<pre>`. */
export async function rendered(
  text: string,
  options: HtmlOptions,
  on: Pick<RenderThread, 'run'> = thread,
): Promise<string> {
  if (text.trim() === '') return '';
  const cells = text.length > MAX_RENDERED ? 0 : cellsOf(text);
  if (text.length > MAX_RENDERED || cells > MAX_CELLS) return asWritten(text);
  if (text.length <= MAX_AT_ONCE && cells <= MAX_CELLS_AT_ONCE) {
    const { toHtml } = await import('./html.ts');
    return toHtml(text, options);
  }
  return (await on.run({ text, options })) ?? asWritten(text);
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

/** What the thread is asked for. */
export interface RenderTask {
  readonly text: string;
  readonly options: HtmlOptions;
}

/** Renders one text after the other. */
export class RenderThread extends TaskThread<RenderTask, string> {
  /** @param maxTime milliseconds for one text @param maxStart milliseconds for a new thread */
  constructor(maxTime = MAX_TIME, maxStart?: number) {
    super(CODE, { maxTime, maxHeap: MAX_HEAP, ...(maxStart === undefined ? {} : { maxStart }) });
  }

  /** Returns undefined for a text that is not rendered now, whatever the reason: it can be read as it was written. */
  override run(task: RenderTask): Promise<string | undefined> {
    return super.run(task).catch((error: unknown) => {
      if (error instanceof ThreadBusy) return undefined;
      throw error;
    });
  }
}

const thread = new RenderThread();
